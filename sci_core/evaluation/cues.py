"""The words around an answer that say it is one, or that it may not be: English and Chinese.

Patterns of what stands before a mention end with `$`; those of what stands behind it are matched
from its start.
"""

from __future__ import annotations

import re

_BE = (
    r"(?:is|was|(?:would|should|must|will|could only|can only) be|(?:has|have|ought|needs) to be"
    r"|(?:seems|appears) to be|looks (?:like|to be))"
)
_IT_IS = rf"(?:(?:it|that|this|which)(?:'s| {_BE})|(?:it|that)'(?:d|ll) be)"
# What is called an answer by its name, and what is one only with a word of praise.
_ANSWER = (
    r"(?:answer|ans|option|choice|letter|solution|response|output|result|prediction|conclusion"
    r"|selection|verdict|decision|(?:my|final|best) (?:guess|pick|vote|bet)"
    r"|(?:correct|right|true|best|closest|accurate|appropriate|suitable|likely|only)"
    r" (?:one|match|fit|statement|description|candidate)|correct(?=\W*:))"
)
_OF_WHAT = (  # "the answer to this question", "the option that fits best", "the answer I would give"
    r"(?: (?:to|for|of|in|that|which|I|we|here)\b[^,.;:?!\ue000-\uf8ff]{0,50}?)?"
    r"(?:, [^,.;:?!\ue000-\uf8ff]{1,50},)?(?: ?\([a-z]+\))?"
)
_SURELY = r"(?: (?:most )?(?:[a-z]+ly|indeed|just|simply|likely))*"
_OPTION = r"(?: ?(?:the |an? )?(?:answer|option|choice|letter)(?: (?:is|of))?)?"
_I = (  # who answers; "someone chose B" is told of another
    r"(?:^\W*|(?:\b(?:I|we|you|let's|let us|let me|would|will|should|can|must|have to|please|so|and"
    r"|therefore|thus|am|are|to)|['’](?:d|ll|m|re))\W+(?:[a-z]+ly |just )?)"
)
_CHOOSE = (
    r"(?:choos(?:e|ing)|chose|pick(?:ed|ing)?|select(?:ed|ing)?|(?:go|going|went) (?:with|for)"
    r"|opt(?:ing)? for|answer(?: with)?|say|think|believe|guess|vote(?: for)?|settle on"
    r"|get|have|(?:am|'m|are) left with)"
)
_ENGLISH = (
    # "the answer to this question is most likely option", "Answer:", "answer = ", "ans."
    rf"\b{_ANSWER}\b[\"']?{_OF_WHAT}(?: (?:[a-z]+ly )?{_BE})?{_SURELY}{_OPTION}"
    # "it is", "that would be option"
    rf"|\b{_IT_IS}{_SURELY}(?:{_OPTION}| an?(?: [a-z]+)?)"
    # "I choose", "I'd go with", "I think it is", "I would say that the answer is"
    rf"|{_I}{_CHOOSE}(?: that)?"
    rf"(?: (?:{_IT_IS}|it|that|the (?:correct |right |best )?(?:answer|option|choice) {_BE}))?"
    rf"{_SURELY}{_OPTION}"
    rf"|\b(?:corresponds to|leaves(?: us with)?|leaving|looks like)(?: only)?{_OPTION}"
)
_SURELY_CHINESE = "(?:应该|应当|应|可能|最可能|很可能|就|一定|肯定|显然|明显|当然|只能|我?选)?"
_CHINESE = (
    rf"(?:答案|选项|选择|回答|解答|结论|\b答)(?:\([a-z]+\))?{_SURELY_CHINESE}(?:是|为|选择?)?(?:选项)?"
    r"|选择?(?:选项|了|的是)?"
    rf"|(?:正确|符合|合适|对|最)[^,。;\n]{{0,8}}?(?:的|答案|选项|可能){_SURELY_CHINESE}(?:是|为)(?:选项)?"
    rf"|(?:认为|觉得|判断|猜|想|应该|应当|很可能|肯定|显然|明显|一定){_SURELY_CHINESE}(?:是|为|选)(?:选项)?"
    r"|(?:认为|觉得)|(?:^|[。\n,])(?:这|那|它|图中|图片中|图里|画面中|图上)(?:就|应该)?(?:是|为)"
)
CUE = re.compile(
    rf"(?:(?:{_ENGLISH})[\])】*\"']*\s?(?:[:=.]|[-=–—]*>|→|[-–—])?|(?:{_CHINESE})[\])】*]*\s?[:=]?)\s?$",
    re.IGNORECASE,
)
"""Ends before an answer: "The answer is", "Answer =", "I would say", 答案是, 选."""

_SAY_FIRST = (
    r"so|then|thus|hence|therefore|okay|ok|sure|of course|certainly|absolutely|well|yes|indeed|clearly|and"
    r"|definitely|surely|obviously|probably|(?:most )?likely|actually|but|oh|ah|hmm|now"
    r"|finally|overall|in (?:conclusion|summary|short|my opinion)|the|an?|option|choice|correction"
    r"|yeah|yep|fine|instead|rather|just|simply|only|final|(?:wait|no|sorry|alright|right)(?=[,.:!])"
)
_FROM_WHAT_IS_SEEN = (
    r"(?:(?:(?:based|judging|going|relying) (?:on|by|from)|from|according to|looking at|given|in"
    r"|with|by|since|because|as|considering|after (?:looking|checking|examining)[a-z ]{0,12})"
    r" [^,:]{1,60}[,:]|here (?:you go|it is)[:,])"
)
BARE = re.compile(
    rf"(?:[(\[{{\"'“‘「【«*<-]|\s|\b(?:{_SAY_FIRST})(?:[,.:!]?\s|[.!]{{2,}})|{_FROM_WHAT_IS_SEEN}"
    r"|(?:根据|按照|由|从|在)[^,:]{1,20},|(?:所以|因此|故|那么|综上(?:所述)?|好的|当然|首先|不对|其实|嗯)[,:。!]?"
    r"|(?:应该|应当|应|就)?(?:是|为))*$",
    re.IGNORECASE,
)
"""All that stands before a bare answer: "So", "Based on the picture,", 根据图片，."""

CLOSED = re.compile(
    r"[)\]}\"'”’»」】>*]*(?:\s*$|\s?[.,:;!?。、…(【—–-]|\s?\n|\s(?:because|since|as|for|with|by|from"
    r"|which|due|based|given|in (?:total|this|the)|too|indeed|to me|(?:most )?likely|probably"
    r"|definitely|I (?:think|believe|guess))\b|因为|由于|准?没错|选?项?吧?(?:$|[,。.]))",
    re.IGNORECASE,
)
"""Behind an answer that has ended: the end, a mark, or a reason."""

_REASON = r",?\s?(?:because|since|as|due to|given that)\b|,?(?:因为|由于)"
ENDED_LETTER = re.compile(
    r"[)\]}\"'”’»」】>*]*(?:\s*$|\s?[.,:;!?。、…(—–-]"
    r"|\s?\n\s*(?=(?-i:[A-Z])[\w'’ ]|[\"'(#*-]|[一-鿿]|[\ue000-\uf8ff](?:\W|$))"
    r"|\s(?:(?:for|with|by|from|which) \w|(?:too|indeed|it is|(?:most )?likely|probably|I (?:think|believe|guess))\b)"
    rf"|{_REASON}|准?没错|选?项?(?:$|[,。.]))",
    re.IGNORECASE,
)
"""Behind a letter that stands bare: the end, a mark, a reason, or a line that begins anew."""

ENDED_TEXT = re.compile(
    r"[)\]}\"'”’»」】>*]*(?:[.!。,]*\s*$"
    rf"|{_REASON}|[.!]?\s?\n\s*(?=[A-Z][\w'’ ])|[.!]\s(?=[A-Z][a-z]* [a-z])|。\s?(?=[一-鿿])|,? I (?:think|believe|guess)\b"
    r"|,? (?:definitely|probably|of course|certainly))"
)
"""Behind an option's text that stands bare: the end, a reason, or another sentence."""

_PRAISED = r"(?:correct|right|best|true|accurate|appropriate|suitable|fitting|likely|closest|only)"
RIGHT = re.compile(
    r"[)\]\"'”」】*]*(?:选项|选|项|答案)?"
    r"(?: (?:(?:answer |option )?(?:is|was|would be|must be|should be|seems|looks|appears)(?: to be)?"
    rf"(?: [a-z]+ly)?(?: (?:the|my))?(?: (?:one|only|most|final))?"
    rf" (?:{_PRAISED}(?: (?:answer|option|choice|one|match|description|fit))?(?: that [a-z]+s?)?|answer|choice|pick)"
    r"|(?:[a-z]+ly )?(?:(?:best )?(?:fits?|match(?:es)?|describes|answers|suits)(?: (?:it |this |the (?:picture|image|scene|question|description) ?)?"
    r"(?:best|well|perfectly)?|(?: (?:it|this|the [a-z]+))?)|works best|makes (?:the most )?sense))"
    r"(?= because| since| as|\s*$|[\n.,;:!])"
    r"|(?:显然|应该|才)?(?:是|为)?(?:正确|对的?|合适|最合适|最?符合|最佳|答案)(?:的|答案|选项|题意|图片|图中|描述|要求|条件|事实)*(?=$|[\n.,;:!。]))",
    re.IGNORECASE,
)
"""Behind an option that the text calls right: "is correct", "fits best", 是正确的."""

DOUBT = re.compile(
    r"(?:^\W*(?:or|nor)\b|\b(?:may|might|could|can|perhaps|maybe|possibly|either|between|both|neither|nor|any|all"
    r"|every(?:thing|one)?|doubt|doubtful|know|tell|wonder|guessing|if|whether|unless)\b"
    r"|也许|或许|(?<![最很])可能|不确定|不一定|会不会|是不是|是否|如果|介于)"
    r"(?: ?(?:also|well|it|that|this|is|be|if|whether|option|but|the|answer|correct|one|of|是|选|答案|选项))*"
    r" ?[(\[\"'“]*$",
    re.IGNORECASE,
)
"""Ends before an option that is only possible: "it could be", "either", 可能是."""

CONDITION = re.compile(
    r"[\s,;]*(?:(?:but|and|so) )?(?:(?:if|unless|whether|suppose|assuming|provided)\b(?! (?:I'm not"
    r"|I am not|you look|we look|asked|one looks))|it depends|why|what about|how about|为什么|为何|如果|若|假如|要是|除非)",
    re.IGNORECASE,
)
"""Opens a clause whose answer holds on a condition."""

FIRST_THOUGHT = re.compile(
    r"[\s,;]*(?:at first|initially|originally|I (?:first|initially|originally)|my first"
    r"|although|though|even though|despite"
    r"|(?:我)?(?:一开始|起初|最初|原以为|原本))",
    re.IGNORECASE,
)
"""Opens a clause that tells what was thought before."""

CONCLUSION = re.compile(
    r"[\s,;]*(?:(?:and )?(?:so|therefore|hence|thus|wait|no|sorry|actually|correction|but|in fact"
    r"|in (?:conclusion|summary|short)|overall|finally|oh)\b|(?:(?:the|my) )?(?:final|correct) answer\b"
    r"|所以|因此|故|但|综上|不对|其实|最终|应该是|那么)",
    re.IGNORECASE,
)
"""Opens a clause that concludes or corrects: it replaces what was named before."""

RETRACTION = re.compile(
    r"[\s,;]*(?:wait|sorry|correction|hold on|let me (?:re|check|think)|不对|等等)", re.IGNORECASE
)
"""Opens a clause that takes back what was said before."""

UNSURE = re.compile(
    r"[)\]\"'”]*[ ,.;:(–—-]*(?:(?:only )?(?:if|unless)|maybe|perhaps|possibly|or not|(?:I'm |I am )?not (?:so |quite )?sure|也许|或许"
    r"|不确定)\b",
    re.IGNORECASE,
)
"""Behind an option that is only possible: "B, maybe"."""

EXCLUDED = re.compile(
    r"\b(?:everything|anything|any(?: option| one)?|all|none|one|nothing)? ?(?:of them |option )?"
    r"(?:except(?: for)?|but|other than|besides|apart from)(?: option)? ?[(\[\"]*$"
    r"|除了?(?:选项)?$",
    re.IGNORECASE,
)
"""Ends before an option that is excepted: "anything but", 除了."""
