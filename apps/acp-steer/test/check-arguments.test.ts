import { describe, expect, test } from "vitest";
import { readCheckArguments } from "../src/check/check-arguments.js";
import { UsageError } from "../src/usage-error.js";

describe("the command line of check", () => {
  test("everything that can be said", () => {
    const line = [
      ...["--model-server", "anthropic", "--cwd", "here", "--trials", "5", "--json", "-", "--junit", "j.xml"],
      ...["--env", "A=1", "--env", "B=x=y", "--only", "advertised", "--only", "G1.tool"],
      ...["--", "some-agent", "--acp", "--json", "{model-root}"],
    ];
    expect(readCheckArguments(line)).toEqual({
      options: {
        command: "some-agent",
        args: ["--acp", "--json", "{model-root}"],
        env: { A: "1", B: "x=y" },
        cwd: "here",
        trials: 5,
        modelServer: "anthropic",
        only: ["advertised", "G1.tool"],
      },
      json: "-",
      junit: "j.xml",
    });
  });

  test("a command is enough: blind, 200 trials", () => {
    for (const line of [["some-agent"], ["--blind", "--", "some-agent"]]) {
      expect(readCheckArguments(line)).toEqual({
        options: { command: "some-agent", args: [], env: {}, trials: 200 },
        json: undefined,
        junit: undefined,
      });
    }
  });

  test.each([
    [[], "Give the agent's command after --"],
    [["--model-server", "x", "--", "y"], 'There is no model server "x". There are: openai-chat'],
    [["--fast", "--", "x"], "--fast"],
    [["--env", "A", "--", "x"], '--env takes NAME=value, not "A"'],
    [["--env", "=A", "--", "x"], '--env takes NAME=value, not "=A"'],
    [["--env", "A={model-url}", "--", "x"], "add --model-server"],
    [["--", "x", "--url={model-root}"], "add --model-server"],
    [["--blind", "--model-server", "anthropic", "--", "x"], "exclude each other"],
    [["--trials", "many", "--", "x"], '--trials takes a whole number, not "many"'],
    [["--trials", "-1", "--", "x"], "--trials"],
  ])("%j is refused: %s", (line, message) => {
    expect(() => readCheckArguments(line)).toThrow(UsageError);
    expect(() => readCheckArguments(line)).toThrow(message);
  });
});
