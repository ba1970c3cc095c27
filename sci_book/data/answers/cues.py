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
# "the answer to this question", "the option that fits best", "the answer I would give"
_OF_WHAT = (
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
    r"|get|have|mean|meant|(?:am|'m|are) left with)"
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
_SURELY_ZH = "(?:应该|应当|应|可能|最可能|很可能|就|一定|肯定|显然|明显|当然|只能|我?选)?"
_IS_ZH = r"(?:是|为)(?:选项)?"
_CHINESE = (
    rf"(?:答案|选项|选择|回答|解答|结论|\b答)(?:\([a-z]+\))?{_SURELY_ZH}(?:是|为|选择?)?(?:选项)?"
    r"|选择?(?:选项|了|的是)?|(?:认为|觉得)"
    rf"|(?:正确|符合|合适|对|最)[^,。;\n]{{0,8}}?(?:的|答案|选项|可能){_SURELY_ZH}{_IS_ZH}"
    r"|(?:认为|觉得|判断|猜|想|应该|应当|很可能|肯定|显然|明显|一定)"
    rf"{_SURELY_ZH}(?:{_IS_ZH}|选(?:选项)?)"
    rf"|(?:^|[。\n,])(?:这|那|它|图中|图片中|图里|画面中|图上)(?:就|应该)?{_IS_ZH}"
)
CUE = re.compile(
    rf"(?:(?:{_ENGLISH})[\])】*\"']*\s?(?:[:=.]|[-=–—]*>|→|[-–—])?"
    rf"|(?:{_CHINESE})[\])】*]*\s?[:=]?)\s?$",
    re.IGNORECASE,
)
"""Ends before an answer: "The answer is", "Answer =", "I would say", 答案是, 选."""

_SAY_FIRST = (
    r"so|then|thus|hence|therefore|okay|ok|sure|of course|certainly|absolutely|well|yes|indeed"
    r"|clearly|and|definitely|surely|obviously|probably|(?:most )?likely|actually|but|oh|ah|hmm|now"
    r"|finally|overall|in (?:conclusion|summary|short|my opinion)|the|an?|option|choice|correction"
    r"|yeah|yep|fine|instead|rather|just|simply|only|final|(?:wait|no|sorry|alright|right)(?=[,.:!])"
)
_FROM_WHAT_IS_SEEN = (
    r"(?:(?:(?:based|judging|going|relying) (?:on|by|from)|from|according to|looking at|given|in"
    r"|with|by|since|because|as|considering|after (?:looking|checking|examining)[a-z ]{0,12})"
    r" [^,:]{1,60}[,:]|here (?:you go|it is)[:,])"
)
_SAY_FIRST_ZH = r"(?:所以|因此|故|那么|综上(?:所述)?|好的|当然|首先|不对|其实|嗯)[,:。!]?"
BARE = re.compile(
    rf"(?:[(\[{{\"'“‘「【«*<-]|\s|\b(?:{_SAY_FIRST})(?:[,.:!]?\s|[.!]{{2,}})|{_FROM_WHAT_IS_SEEN}"
    rf"|(?:根据|按照|由|从|在)[^,:]{{1,20}},|{_SAY_FIRST_ZH}|(?:应该|应当|应|就)?(?:是|为))*$",
    re.IGNORECASE,
)
"""All that stands before a bare answer: "So", "Based on the picture,", 根据图片，."""

_CLOSING = r"[)\]}\"'”’»」】>*]*"
_REASON = r",?\s?(?:because|since|as|due to|given that)\b|,?(?:因为|由于)"
_I_THINK = r"(?:I (?:think|believe|guess)|(?:most )?likely|probably|definitely)\b"
_THE_END_ZH = r"准?没错|选?项?吧?(?:$|[,。.])"
CLOSED = re.compile(
    rf"{_CLOSING}(?:\s*$|\s?[.,:;!?。、…(【—–-]|\s?\n|{_REASON}|\s{_I_THINK}|{_THE_END_ZH}"
    r"|\s(?:for|with|by|from|which|due|based|given|in (?:total|this|the)|too|indeed|to me)\b)",
    re.IGNORECASE,
)
"""Behind an answer that a cue has announced, where it ends: a mark, a reason, or the end."""

ENDED_LETTER = re.compile(
    rf"{_CLOSING}(?:\s*$|\s?[.,:;!?。、…(—–-]|{_REASON}|\s{_I_THINK}|{_THE_END_ZH}"
    r"|\s(?:(?:for|with|by|from|which) \w|(?:too|indeed|it is)\b)"
    r"|\s?\n\s*(?=(?-i:[A-Z])[\w'’ ]|[\"'(#*-]|[一-鿿]|[\ue000-\uf8ff](?:\W|$)))",
    re.IGNORECASE,
)
"""Behind a letter that stands bare: the end, a mark, a reason, or a line that begins anew."""

ENDED_TEXT = re.compile(
    rf"{_CLOSING}(?:[.!。,]*\s*$|{_REASON}|,? {_I_THINK}|,? (?:of course|certainly)"
    r"|[.!]?\s?\n\s*(?=[A-Z][\w'’ ])|[.!]\s(?=[A-Z][a-z]* [a-z])|。\s?(?=[一-鿿]))"
)
"""Behind an option's text that stands bare: the end, a reason, or another sentence."""

ASSERTED = re.compile(
    r"^(?!.*(?:\b(?:not|no|never|nor|neither|without|unlike|than|instead|rather)\b|n['’]t|没|不|无)).*"
    r"(?:\b(?:is|are|was|were|shows?|showing|depicts?|displays?|contains?|features?|has|have|having"
    r"|sees?|seen|count(?:ed)?|reads?|says|wear(?:s|ing)|hold(?:s|ing)|looks?|appears?)\b|'s )"
    r"(?: \w+){0,5} ?[\"'“‘(]*$|^[^\n]{0,40}=\s?$"
    r"|^(?!.*[没不无]).*(?:是|为|有|在|正|显示|写着|[可能]以?看[到见])[^,。]{0,6}[“\"「]?$",
    re.IGNORECASE | re.DOTALL,
)
"""Ends before an option's text that a sentence asserts: "The car is", "I see", 图中的车是."""

IS_THE = re.compile(
    r" (?:is|are|was|were) (?:the|what|shown|visible|seen|depicted)\b", re.IGNORECASE
)
"""Behind an option's text that opens a sentence: "Red is the colour of the car"."""

COUNTED = re.compile(r".*\b(?:there (?:are|is)|count(?:ed)?|can see|I see) $", re.IGNORECASE)
"""Ends before an option that may be the number of what follows: "There are two chairs"."""

ENDED_SENTENCE = re.compile(
    rf"{_CLOSING}(?:\s*$|的?[.!。,，;]|的?$"
    r"|,? (?:in|on|at|of|with|by|near|next to|behind|shown|visible|here|standing|sitting)\b)",
    re.IGNORECASE,
)
"""Behind an option's text that a sentence asserts: the end, a mark, or where it is."""

_PRAISED = r"(?:correct|right|best|true|accurate|appropriate|suitable|fitting|likely|closest|only)"
_THE_ANSWER = r"(?:answer|option|choice|one|match|description|fit|pick)"
_SEEMS = r"(?:is|was|would be|must be|should be|seems|looks|appears)(?: to be)?(?: [a-z]+ly)?"
_IS_RIGHT = (
    rf"(?:answer |option )?{_SEEMS}(?: (?:the|my))?(?: (?:one|only|most|final))?"
    rf" (?:{_PRAISED}(?: {_THE_ANSWER})?(?: that [a-z]+s?)?|answer|choice|pick)"
)
_WHAT_IS_SHOWN = r"(?:it|this|the (?:picture|image|scene|question|description))"
_FITS = (
    r"(?:[a-z]+ly )?(?:best )?(?:fits?|match(?:es)?|describes|answers|suits)"
    rf"(?: {_WHAT_IS_SHOWN})?(?: (?:best|well|perfectly))?|best [a-z]+s(?: {_WHAT_IS_SHOWN})?"
    r"|works best|makes (?:the most )?sense"
)
_IS_RIGHT_ZH = (
    r"(?:显然|应该|才)?(?:是|为)?(?:正确|对的?|合适|最合适|最?符合|最佳|答案)"
    r"(?:的|答案|选项|题意|图片|图中|描述|要求|条件|事实)*(?=$|[\n.,;:!。])"
)
RIGHT = re.compile(
    rf"[)\]\"'”」】*]*(?:选项|选|项|答案)?(?: (?:{_IS_RIGHT}|{_FITS})"
    rf"(?= because| since| as|\s*$|[\n.,;:!])|{_IS_RIGHT_ZH})",
    re.IGNORECASE,
)
"""Behind an option that the text calls right: "is correct", "fits best", 是正确的."""

_POSSIBLY = (
    r"\b(?:may|might|could|can|perhaps|maybe|possibly|either|between|both|neither|nor|any|all"
    r"|every(?:thing|one)?|doubt|doubtful|know|tell|wonder|guessing|if|whether|unless)\b"
    r"|也许|或许|(?<![最很])可能|不确定|不一定|会不会|是不是|是否|如果|介于"
)
_AND_SO_ON = (
    r"(?: ?(?:also|well|it|that|this|is|be|if|whether|option|but|the|answer|correct|one|of"
    r"|是|选|答案|选项))*"
)
DOUBT = re.compile(
    rf"(?:^\W*(?:or|nor)\b|{_POSSIBLY}){_AND_SO_ON} ?[(\[\"'“]*$",
    re.IGNORECASE,
)
"""Ends before an option that is only possible: "it could be", "either", 可能是."""

UNSURE = re.compile(
    r"[)\]\"'”]*[ ,.;:(–—-]*(?:(?:only )?(?:if|unless)|maybe|perhaps|possibly|or not"
    r"|(?:I'm |I am )?not (?:so |quite )?sure|也许|或许|不确定)\b",
    re.IGNORECASE,
)
"""Behind an option that is only possible: "B, maybe"."""

LOOKED_AT = re.compile(
    r"\b(?:look(?:ing)? at|consider(?:ing)?|check(?:ing)?|compar(?:e|ing)|examin(?:e|ing)"
    r"|start(?:ing)? with)(?: (?:the )?(?:option|choice|statement))? ?[(\[\"']?$",
    re.IGNORECASE,
)
"""Ends before an option that is looked at, not chosen: "First, we look at option"."""

CONDITION = re.compile(
    r"[\s,;]*(?:(?:but|and|so) )?(?:(?:if|unless|whether|suppose|assuming|provided)\b"
    r"(?! (?:I'm not|I am not|you look|we look|asked|one looks"
    r"|(?:I|we) (?:had|have|am|were) (?:to|forced)))"
    r"|it depends|why|what about|how about|otherwise|or else|否则|为什么|为何"
    r"|(?:如果|若|假如|要是)(?!一定要|非要|必须|硬要)|除非)",
    re.IGNORECASE,
)
"""Opens a clause whose answer holds on a condition, or that asks for a reason."""

FIRST_THOUGHT = re.compile(
    r"[\s,;]*(?:at first|initially|originally|I (?:first|initially|originally)|my first|although"
    r"|though|even though|despite|it (?:is|was|may be|might be) tempting"
    r"|(?:one|you) (?:might|may|could)|虽然|尽管"
    r"|(?:我)?(?:一开始|起初|最初|先前|之前|刚才|原以为|以为|原本|本来))",
    re.IGNORECASE,
)
"""Opens a clause that tells what was thought before, or is granted."""

CONCLUSION = re.compile(
    r"[\s,;]*(?:(?:and )?(?:so|therefore|hence|thus|wait|no|sorry|actually|correction|but|in fact"
    r"|however"
    r"|in (?:conclusion|summary|short)|overall|finally|oh)\b"
    r"|(?:(?:the|my) )?(?:final|correct) answer\b|所以|因此|故|但|综上|不对|其实|最终|应该是|那么)",
    re.IGNORECASE,
)
"""Opens a clause that concludes or corrects: it replaces what was named before."""

RETRACTION = re.compile(
    r"[\s,;.…]*(?:(?:hmm|oh|ah|actually|no),? )*"
    r"(?:wait|sorry|correction|hold on|let me (?:re|check|think|look)"
    r"|[^.;\n]{0,40}\bI (?:was wrong|made a mistake|misspoke|misread)|不对|等等"
    r"|[^,。;\n]{0,8}(?:说错|看错|弄错|搞错))",
    re.IGNORECASE,
)
"""Opens a clause that takes back what was said before."""

EXCLUDED = re.compile(
    r"(?:\b(?:everything|anything|any(?: option| one)?|all(?: options)?|none|nothing) but"
    r"|\b(?:except(?: for)?|other than|besides|apart from))(?: option)? ?[(\[\"]*$|除了?(?:选项)?$",
    re.IGNORECASE,
)
"""Ends before an option that is excepted: "anything but", 除了."""
