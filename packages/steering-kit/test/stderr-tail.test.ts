import { expect, test } from "vitest";
import { StderrTail } from "../src/process/stderr-tail.js";

function tailOf(...chunks: string[]): string[] {
  const tail = new StderrTail();
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return tail.lines();
}

test("the last five lines are kept, without the empty ones", () => {
  expect(tailOf("1\n2\n\n3\n4", "\n5\n6\n7\n")).toEqual(["3", "4", "5", "6", "7"]);
});

test("a long line is shortened", () => {
  expect(tailOf(`${"x".repeat(1_000)}\n`)).toEqual([`${"x".repeat(200)}…`]);
});

test("a line without an end costs no more memory than its limit, and the next lines are read", () => {
  expect(tailOf("x".repeat(100_000), "rest\nnext\n")).toEqual(["rest", "next"]);
});

test.each([
  "Authorization: Bearer abc.def.ghi",
  'api_key="abcdef123456"',
  "key sk-abcdef1234567890 was refused",
  "token: ghp_abcdefghijklmnop",
])("what looks like a secret is hidden: %s", (line) => {
  expect(tailOf(`${line}\n`)[0]).toContain("[hidden]");
  expect(tailOf(`${line}\n`)[0]).not.toMatch(/abc|ghp_/);
});
