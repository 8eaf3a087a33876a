"""Images, made as small as a model needs them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from bot.agent.history.media import image_type
from bot.frontend.reading.content import Content, UnreadableError

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_SIDE = 1568  # pixels: what is larger, services scale down themselves
MOST_PIXELS = 64_000_000  # of what is unpacked: more is a trap, or a poster
MOST_BYTES = 3_500_000  # some services take 5 MB in base64
_KINDS = ("PNG", "JPEG", "GIF", "WEBP")
_ORIENTATION = 0x0112  # the number of the EXIF tag


def prepared(data: bytes) -> Content:
    """Return an image as it is kept; it is encoded anew only where it has to change.

    Raises:
        UnreadableError: if it is damaged or far too large.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=_KINDS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise UnreadableError("it has too many pixels")
            made = _smaller(image) if _has_to_change(image, data) else _checked(image, data)
    except UnreadableError:
        raise
    except Image.DecompressionBombError:
        raise UnreadableError("it has too many pixels") from None
    except Exception as exc:  # Pillow's decoders raise whatever comes to them
        raise UnreadableError("it is damaged") from exc
    return Content(made, image_type(made) or "")


def _has_to_change(image: Image, data: bytes) -> bool:
    return (
        max(image.size) > LONGEST_SIDE
        or len(data) > MOST_BYTES
        or getattr(image, "is_animated", False)
        or image.getexif().get(_ORIENTATION, 1) != 1
    )


def _checked(image: Image, data: bytes) -> bytes:
    image.load()
    return data


def _smaller(image: Image) -> bytes:
    """Return the first picture of an image, upright, small enough, as PNG or JPEG."""
    from PIL import ImageOps

    lossless = image.format != "JPEG"
    image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG is then unpacked smaller
    see_through = image.has_transparency_data
    upright = ImageOps.exif_transpose(image).convert("RGBA" if see_through else "RGB")
    upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    made = _encoded(upright, "PNG") if lossless else b""
    if made and len(made) <= MOST_BYTES:
        return made
    return _encoded(_on_white(upright) if see_through else upright, "JPEG")


def _on_white(image: Image) -> Image:
    from PIL.Image import new

    white = new("RGB", image.size, "white")
    white.paste(image, mask=image)
    return white


def _encoded(image: Image, kind: str) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 3}))
    return file.getvalue()
