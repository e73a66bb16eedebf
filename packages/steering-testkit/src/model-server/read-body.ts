import type { IncomingMessage } from "node:http";

export type Body =
  | { readonly kind: "json"; readonly value: unknown; readonly size: number }
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "tooLarge" };

const parse = (bytes: Buffer): Body => {
  try {
    return { kind: "json", value: JSON.parse(bytes.toString("utf8")), size: bytes.length };
  } catch (error) {
    // V8 quotes the text around the fault, which may be a prompt's.
    return { kind: "malformed", reason: error instanceof SyntaxError ? "it is not JSON" : String(error) };
  }
};

/** Reads a JSON body of at most `limit` bytes; rejects when the client goes away first. */
export const readBody = async (incoming: IncomingMessage, limit: number): Promise<Body> => {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) return { kind: "tooLarge" };
  const chunks: Buffer[] = [];
  let size = 0;
  const readable = incoming.iterator({ destroyOnReturn: false });
  for await (const chunk of readable as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return { kind: "tooLarge" };
    chunks.push(chunk);
  }
  return parse(Buffer.concat(chunks));
};
