import { expect, test } from "vitest";
import { snippetsOf } from "../check-snippets.mjs";

test("every ts block is a snippet, with the line where its code begins", () => {
  const markdown =
    "# Title\n\n```ts\nconst one = 1;\n```\n\n```json\n{}\n```\n\n```ts\nconst two = 2;\nconst three = 3;\n```\n";
  expect(snippetsOf(markdown)).toEqual([
    { line: 4, code: "const one = 1;\n" },
    { line: 12, code: "const two = 2;\nconst three = 3;\n" },
  ]);
});
