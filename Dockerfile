# README's commands in a container: `docker build -t sci .`, then `docker run -p 8000:8000 sci` and
# the book is at port 8000; `docker run -it sci bash` for the other commands.
FROM python:3.11-slim AS tools
# Chromium is for `make pages`, in the fonts that a reader's machine has.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium fonts-liberation git make \
    && rm -rf /var/lib/apt/lists/*
# Where to find a build of torch for CPUs (README.md): --build-arg PIP_EXTRA_INDEX_URL=ADDRESS
ARG PIP_EXTRA_INDEX_URL
WORKDIR /book

FROM tools AS book
COPY . .
RUN make book
EXPOSE 8000
CMD [".venv/bin/python", "-m", "http.server", "8000", "--directory", "_build/html"]
