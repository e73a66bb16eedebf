import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@acp-steering/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { ATTACHMENT_BYTES, toHermesContent } from "../src/content.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (value: string): ContentBlock => ({ type: "text", text: value });

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "acp-steering-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A link to a new file with that content. */
function linkTo(name: string, content: string | Buffer): Extract<ContentBlock, { type: "resource_link" }> {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return { type: "resource_link", name, uri: pathToFileURL(path).href };
}

async function contentOf(...prompt: ContentBlock[]): Promise<unknown> {
  return (await toHermesContent(prompt)).content;
}

describe("a prompt for Hermes", () => {
  test("of text blocks alone is one text", async () => {
    expect(await toHermesContent([text("Fix"), text("the test")])).toEqual({
      content: "Fix\nthe test",
      text: "Fix\nthe test",
    });
  });

  test("with an image is a list of parts, the image as a data URL", async () => {
    const prompt: ContentBlock[] = [text("Look"), { type: "image", data: PIXEL, mimeType: "image/png" }];
    expect(await toHermesContent(prompt)).toEqual({
      content: [
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
      ],
      text: "Look\n[image]",
    });
  });

  test("passes on the address of an image without data", async () => {
    const url = "https://example.com/a.png";
    expect(await contentOf({ type: "image", data: "", mimeType: "image/png", uri: url })).toEqual([
      { type: "image_url", image_url: { url } },
    ]);
  });

  test("carries the text of a linked file under its name", async () => {
    const { content } = await toHermesContent([text("Read"), linkTo("notes.txt", "ünï\n")]);
    expect(content).toMatch(/^Read\n\[Attached file: notes\.txt \(.*notes\.txt\)\]\nünï\n$/);
  });

  test("keeps the user's words apart from what is attached", async () => {
    const { text: words } = await toHermesContent([text("Read"), linkTo("notes.txt", "secret")]);
    expect(words).toBe("Read\n[file: notes.txt]");
  });

  test("carries a linked image as an image", async () => {
    const link = linkTo("shot.PNG", Buffer.from(PIXEL, "base64"));
    expect(await contentOf(link)).toEqual([
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]);
  });

  test("carries an embedded text, and an embedded image", async () => {
    const embedded: ContentBlock = { type: "resource", resource: { uri: "file:///b.ts", text: "export {};" } };
    expect(await contentOf(embedded)).toBe("[Attached file: file:///b.ts]\nexport {};");
    const image: ContentBlock = { type: "resource", resource: { uri: "a", blob: PIXEL, mimeType: "image/png" } };
    expect(await contentOf(image)).toEqual([
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]);
  });

  test("names a resource that is no file", async () => {
    const link: ContentBlock = { type: "resource_link", name: "page", uri: "https://example.com/" };
    expect(await contentOf(link)).toContain("page (https://example.com/), not read");
  });
});

describe("what cannot be attached says so in its place", () => {
  test("a file that is not there, a folder", async () => {
    const missing: ContentBlock = { type: "resource_link", name: "gone", uri: pathToFileURL(join(folder(), "x")).href };
    expect(await contentOf(missing)).toMatch(/gone .*could not be read: there is no such file/);
    const place = join(folder(), "sub");
    mkdirSync(place);
    const link: ContentBlock = { type: "resource_link", name: "sub", uri: pathToFileURL(place).href };
    expect(await contentOf(link)).toMatch(/sub .*could not be read: it is (not a file|a folder)/);
  });

  test("a pipe, without waiting for somebody to write to it", async () => {
    const path = join(folder(), "pipe");
    execFileSync("mkfifo", [path]);
    const link: ContentBlock = { type: "resource_link", name: "pipe", uri: pathToFileURL(path).href };
    expect(await contentOf(link)).toMatch(/could not be read: it is not a file/);
  });

  test("bytes that are no text", async () => {
    expect(await contentOf(linkTo("a.bin", Buffer.from([1, 0, 2])))).toMatch(/left out: 3 bytes that are not text/);
    expect(await contentOf(linkTo("b.bin", Buffer.from([0xff, 0xfe])))).toMatch(/left out: 2 bytes that are not text/);
    const blob = Buffer.from([0]).toString("base64");
    expect(await contentOf({ type: "resource", resource: { uri: "c.bin", blob } })).toMatch(/left out: 1 bytes/);
  });

  test("what is over the limit is cut, at a whole character, with the real size", async () => {
    const size = ATTACHMENT_BYTES + 2;
    const content = await contentOf(linkTo("long.txt", `x${"é".repeat((size - 1) / 2)}x`));
    expect(content).toMatch(
      new RegExp(`é\\n\\[Cut here: the file has ${size} bytes, the limit is ${ATTACHMENT_BYTES}\\]$`),
    );
    const embedded = await contentOf({ type: "resource", resource: { uri: "a", text: "y".repeat(size) } });
    expect(embedded).toMatch(new RegExp(`y\\n\\[Cut here: the file has ${size} bytes`));
  });

  test("an image over the limit", async () => {
    const link = linkTo("big.png", Buffer.alloc(ATTACHMENT_BYTES + 1));
    expect(await contentOf(link)).toMatch(/Attached image: .*big\.png is left out: 524289 bytes/);
  });
});
