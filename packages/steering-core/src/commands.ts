import { objectAt } from "./parse.js";
import type { JsonObject } from "./protocol.js";

/** The slash commands of the layer, as `available_commands_update` announces them (spec §7). */
export const OUR_COMMANDS: readonly {
  readonly name: string;
  readonly description: string;
  readonly input: JsonObject;
}[] = [
  { name: "steer", description: "Steer the running turn", input: { hint: "guidance" } },
  { name: "queue", description: "Run a prompt after the running turn", input: { hint: "prompt" } },
];

/** An agent's announcement with ours merged in by name, ours first. */
export const withOurCommands = (update: JsonObject): JsonObject => {
  const theirs: unknown = update["availableCommands"];
  const isOurs = (other: unknown): boolean => OUR_COMMANDS.some(({ name }) => name === objectAt(other)["name"]);
  const others = Array.isArray(theirs) ? theirs.filter((other) => !isOurs(other)) : [];
  return { ...update, availableCommands: [...OUR_COMMANDS, ...others] };
};
