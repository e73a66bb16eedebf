import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@acp-steering/core";
import type { BridgeContent, BridgeContentPart } from "./bridge-protocol.js";

/** The most that one file or embedded resource adds to a prompt, in bytes. */
export const ATTACHMENT_BYTES: number = 512 * 1024;

/** A prompt as Hermes takes it, and what of it are the user's own words. */
export interface HermesContent {
  readonly content: BridgeContent;
  readonly text: string;
}

type ResourceLink = Extract<ContentBlock, { type: "resource_link" }>;
type Resource = Extract<ContentBlock, { type: "resource" }>["resource"];

const IMAGE_TYPES = new Map([
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
]);

/**
 * A prompt or a steer in Hermes' form: one text where all is text, else parts. What cannot be attached says so in its
 * place; it never fails the prompt.
 */
export async function toHermesContent(prompt: readonly ContentBlock[]): Promise<HermesContent> {
  const parts = await Promise.all(prompt.map(toPart));
  const text = prompt.map(ownWords).join("\n");
  if (!parts.every(isText)) return { content: parts, text };
  return { content: parts.map((part) => part.text).join("\n"), text };
}

function isText(part: BridgeContentPart): part is Extract<BridgeContentPart, { type: "text" }> {
  return part.type === "text";
}

/** What stands for a block in the history and in the title of a session. */
function ownWords(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return "[image]";
    case "audio":
      return "[audio]";
    case "resource_link":
      return `[file: ${block.name}]`;
    case "resource":
      return `[file: ${block.resource.uri}]`;
  }
}

async function toPart(block: ContentBlock): Promise<BridgeContentPart> {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      return imagePart(block.data === "" && block.uri ? block.uri : `data:${block.mimeType};base64,${block.data}`);
    case "resource_link":
      return linkedPart(block);
    case "resource":
      return embeddedPart(block.resource);
    case "audio":
      // The kit has refused it in a prompt, core in a steer.
      return textPart("[Audio: Hermes cannot listen to it]");
  }
}

async function linkedPart(link: ResourceLink): Promise<BridgeContentPart> {
  const path = localPath(link.uri);
  if (path === undefined) return textPart(`[Linked resource: ${link.name} (${link.uri}), not read by the editor]`);
  try {
    return filePart(link, path, await readHead(path));
  } catch (error) {
    return textPart(`[Attached file: ${link.name} (${path}) could not be read: ${reasonOf(error)}]`);
  }
}

interface FileHead {
  readonly bytes: Buffer;
  /** Of the whole file, in bytes. */
  readonly size: number;
}

function filePart(link: ResourceLink, path: string, head: FileHead): BridgeContentPart {
  const imageType = IMAGE_TYPES.get(extname(path).toLowerCase());
  if (imageType) return attachedImage(path, imageType, head);
  return attachedText(`${link.name} (${path})`, head);
}

/** A pipe is not waited for. Windows has no such flag. */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads no more than is used: the link may name something endless. */
async function readHead(path: string): Promise<FileHead> {
  const file = await open(path, READ_AT_ONCE);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error("it is not a file");
    const bytes = Buffer.alloc(Math.min(status.size, ATTACHMENT_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { bytes: bytes.subarray(0, bytesRead), size: status.size };
  } finally {
    await file.close();
  }
}

function embeddedPart(resource: Resource): BridgeContentPart {
  if ("text" in resource) {
    const bytes = Buffer.from(resource.text);
    return attachedText(resource.uri, { bytes: bytes.subarray(0, ATTACHMENT_BYTES), size: bytes.length });
  }
  const bytes = Buffer.from(resource.blob, "base64");
  const head = { bytes: bytes.subarray(0, ATTACHMENT_BYTES), size: bytes.length };
  const isImage = resource.mimeType?.startsWith("image/") === true;
  return isImage ? attachedImage(resource.uri, resource.mimeType ?? "", head) : attachedText(resource.uri, head);
}

function attachedImage(name: string, mimeType: string, { bytes, size }: FileHead): BridgeContentPart {
  if (size > bytes.length) return textPart(`[Attached image: ${name} is left out: ${size} bytes, ${LIMIT}]`);
  return imagePart(`data:${mimeType};base64,${bytes.toString("base64")}`);
}

function attachedText(name: string, { bytes, size }: FileHead): BridgeContentPart {
  const text = decode(bytes, size > bytes.length);
  if (text === undefined) return textPart(`[Attached file: ${name} is left out: ${size} bytes that are not text]`);
  const cut = size > bytes.length ? `\n[Cut here: the file has ${size} bytes, ${LIMIT}]` : "";
  return textPart(`[Attached file: ${name}]\n${text}${cut}`);
}

const LIMIT = `the limit is ${ATTACHMENT_BYTES}`;

/** UTF-8, or `undefined` for what is no text. A character that the limit has cut in two is dropped. */
function decode(bytes: Buffer, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

function localPath(uri: string): string | undefined {
  if (!/^file:/i.test(uri)) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const reasons = new Map([
    ["ENOENT", "there is no such file"],
    ["EACCES", "permission denied"],
    ["EISDIR", "it is a folder"],
  ]);
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons.get(code ?? "") ?? message;
}

function textPart(text: string): BridgeContentPart {
  return { type: "text", text };
}

function imagePart(url: string): BridgeContentPart {
  return { type: "image_url", image_url: { url } };
}
