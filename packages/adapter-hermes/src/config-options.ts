import type { VendorSession } from "@acp-steering/kit";
import type { BridgeChoice, BridgeSession } from "./bridge-protocol.js";

type ConfigOption = ReturnType<NonNullable<VendorSession["configOptions"]>>[number];

/** The two settings of a session; their names are the fields of the bridge's `set` request. */
export const MODEL = "model";
export const MODE = "mode";

/** What the user may choose in a session of Hermes: its model, and how edits are approved. */
export function configOptions(
  { model, models, mode }: Pick<BridgeSession, "model" | "models" | "mode">,
  modes: readonly BridgeChoice[],
): ConfigOption[] {
  return [
    select({ id: MODEL, name: "Model", current: model, choices: models }),
    select({ id: MODE, name: "Approval of edits", current: mode, choices: modes }),
  ];
}

interface Selection {
  readonly id: typeof MODEL | typeof MODE;
  readonly name: string;
  readonly current: string;
  readonly choices: readonly BridgeChoice[];
}

function select({ id, name, current, choices }: Selection): ConfigOption {
  const options = choices.map((choice) => ({
    value: choice.id,
    name: choice.name,
    ...(choice.description !== undefined && { description: choice.description }),
  }));
  return { type: "select", id, name, category: id, currentValue: current, options };
}
