import { createHash } from "node:crypto";

const bytes = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A picture of one pixel, in the forms in which it travels and is recorded. */
export const DOT = {
  base64: bytes.toString("base64"),
  url: `data:image/png;base64,${bytes.toString("base64")}`,
  image: {
    kind: "inline",
    mimeType: "image/png",
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  },
} as const;
