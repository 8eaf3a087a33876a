"""Files as people send them, made here."""

from __future__ import annotations

import io
import random
import zlib
from typing import Any

from PIL import Image


def picture(
    kind: str = "PNG", size: tuple[int, int] = (8, 6), mode: str = "RGB", **options: Any
) -> bytes:
    """Return an image that is darker to the left."""
    file = io.BytesIO()
    image = Image.linear_gradient("L").rotate(90).resize(size).convert(mode)
    image.save(file, kind, **options)
    return file.getvalue()


def noise(size: tuple[int, int], kind: str = "JPEG", **options: Any) -> bytes:
    """Return an image that cannot be packed well."""
    file = io.BytesIO()
    data = random.Random(1).randbytes(size[0] * size[1] * 3)  # noqa: S311 - no secret
    Image.frombytes("RGB", size, data).save(file, kind, **options)
    return file.getvalue()


def pdf(*pages: str, padding: int = 0) -> bytes:
    """Return a PDF with one line of text a page; `padding` bytes belong to no page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        lines = " T* ".join(f"({line}) Tj" for line in text.split("\n"))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(_stream(f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode()))
    if padding:
        objects.append(_stream(random.Random(1).randbytes(padding)))  # noqa: S311 - no secret
    return _file(objects)


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
    return head + packed + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    return bytes(out + f"startxref\n{table}\n%%EOF".encode())
