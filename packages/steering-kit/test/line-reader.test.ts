import { describe, expect, test } from "vitest";
import { LineReader, LineTooLongError } from "../src/process/line-reader.js";

function read(...chunks: (string | Buffer)[]): string[] {
  const reader = new LineReader();
  return [...chunks.flatMap((chunk) => reader.push(Buffer.from(chunk))), ...reader.end()];
}

describe("lines", () => {
  test("end at LF, with or without CR", () => {
    expect(read("one\ntwo\r\nthree")).toEqual(["one", "two", "three"]);
  });

  test("do not end at U+2028, U+2029, U+0085 or a lone CR", () => {
    expect(read("a\u2028b\u2029c\u0085d\re\n")).toEqual(["a\u2028b\u2029c\u0085d\re"]);
  });

  test("are whole wherever the chunks are cut, inside a character too", () => {
    const bytes = Buffer.from('{"text":"größe 🚀\u2028"}\n{"next":1}\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['{"text":"größe 🚀\u2028"}', '{"next":1}']);
    }
  });

  test("may be empty", () => {
    expect(read("\n\n")).toEqual(["", ""]);
    expect(read("")).toEqual([]);
  });

  test("beyond the limit are an error, complete or not", () => {
    expect(new LineReader(4).push(Buffer.from("1234\n123"))).toEqual(["1234"]);
    expect(() => new LineReader(4).push(Buffer.from("12345\n"))).toThrow(LineTooLongError);
    const growing = new LineReader(4);
    growing.push(Buffer.from("123"));
    expect(() => growing.push(Buffer.from("45"))).toThrow(LineTooLongError);
  });
});
