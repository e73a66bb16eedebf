import { expect, test } from "vitest";
import { slashCommandOf } from "../src/slash-command.js";

const commands = [{ name: "model", description: "" }];
const text = (value: string) => ({ type: "text", text: value }) as const;

test.each([
  ["/model", { name: "model", args: "" }],
  [" /model gpt x \n", { name: "model", args: "gpt x" }],
  ["/model\nline", { name: "model", args: "line" }],
  ["/models", undefined],
  ["/unknown", undefined],
  ["tell /model", undefined],
  ["/", undefined],
])("%j is %j", (prompt, command) => {
  expect(slashCommandOf([text(prompt)], commands)).toEqual(command);
});

test("a prompt with more than one block is for the model", () => {
  expect(slashCommandOf([text("/model"), text("x")], commands)).toBeUndefined();
});
