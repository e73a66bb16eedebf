import type { ConfigChange, VendorSession } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { ClaudeControl } from "./claude-control.js";

type ConfigOption = ReturnType<NonNullable<VendorSession["configOptions"]>>[number];
type Modes = ReturnType<NonNullable<VendorSession["modes"]>>;
type Mode = Modes["availableModes"][number];

interface Choice {
  readonly value: string;
  readonly name: string;
  readonly description: string;
}

interface ClaudeModel extends Choice {
  readonly resolved: string;
  readonly efforts: readonly string[];
}

const MODES: readonly Mode[] = [
  { id: "default", name: "Ask", description: "Asks before it edits a file or runs a command" },
  { id: "acceptEdits", name: "Accept edits", description: "Edits files without asking" },
  { id: "plan", name: "Plan", description: "Reads and plans; changes nothing" },
  { id: "auto", name: "Auto", description: "A model decides what the user is asked" },
  { id: "dontAsk", name: "Don't ask", description: "Never asks; does what is allowed already and nothing else" },
];

/** Only a Claude Code that was started for it can be put into this one. */
const BYPASS: Mode = {
  id: "bypassPermissions",
  name: "Bypass permissions",
  description: "Does everything, and never asks",
};

/** Model, effort and permission mode of one session. */
export class ClaudeSettings {
  readonly #control: ClaudeControl;
  #models: readonly ClaudeModel[] = [];
  #model = "";
  #effort = "";
  #modeId = "default";
  #chosen: Readonly<Record<string, string>> = {};

  constructor(control: ClaudeControl) {
    this.#control = control;
  }

  /** @param introduction what Claude Code answered to `initialize` */
  async read({ models, current_permission_mode }: JsonRecord): Promise<void> {
    this.#modeId = textOf(current_permission_mode) || this.#modeId;
    const { applied } = await this.#control.request("get_settings");
    const { model, effort } = recordOf(applied);
    this.#effort = textOf(effort);
    const listed = listOf(models).filter(isRecord).map(toModel);
    const present = textOf(model);
    const known = listed.find(({ value, resolved }) => value === present || resolved === present);
    this.#models = known || present === "" ? listed : [...listed, unlisted(present)];
    this.#model = known?.value ?? present;
  }

  /** What the user has set, as {@link restore} takes it. */
  get chosen(): Readonly<Record<string, string>> {
    return this.#chosen;
  }

  async restore({ model, effort, mode }: Readonly<Record<string, string>>): Promise<void> {
    if (model !== undefined) await this.set({ configId: "model", value: model });
    if (effort !== undefined) await this.set({ configId: "effort", value: effort });
    if (mode !== undefined) await this.setMode(mode);
  }

  configOptions(): ConfigOption[] {
    const efforts = this.#present?.efforts.map(toEffort) ?? [];
    const isKnown = efforts.some(({ value }) => value === this.#effort);
    return [
      { ...select("model", "Model", this.#model, this.#models), category: "model" },
      ...(isKnown ? [{ ...select("effort", "Effort", this.#effort, efforts), category: "thought_level" }] : []),
    ];
  }

  async set({ configId, value }: ConfigChange): Promise<void> {
    const chosen = String(value);
    if (configId === "model") {
      await this.#control.request("set_model", { model: chosen });
      this.#model = chosen;
    } else {
      await this.#control.request("apply_flag_settings", { settings: { effortLevel: chosen } });
      this.#effort = chosen;
    }
    this.#chosen = { ...this.#chosen, [configId]: chosen };
  }

  modes(): Modes {
    const availableModes = this.#modeId === BYPASS.id ? [...MODES, BYPASS] : [...MODES];
    return { currentModeId: this.#modeId, availableModes };
  }

  async setMode(mode: string): Promise<void> {
    await this.#control.request("set_permission_mode", { mode });
    this.#modeId = mode;
    this.#chosen = { ...this.#chosen, mode };
  }

  /** Claude Code is in another mode: by its own tools, or by an answer of the user's. @returns whether that is new */
  modeChanged(modeId: string): boolean {
    if (modeId === "" || modeId === this.#modeId) return false;
    this.#modeId = modeId;
    this.#chosen = { ...this.#chosen, mode: modeId };
    return true;
  }

  get #present(): ClaudeModel | undefined {
    return this.#models.find(({ value }) => value === this.#model);
  }
}

function select(id: string, name: string, currentValue: string, choices: readonly Choice[]) {
  const options = choices.map(({ value, name: label, description }) => ({ value, name: label, description }));
  return { type: "select" as const, id, name, currentValue, options };
}

function toModel({ value, displayName, description, resolvedModel, supportedEffortLevels }: JsonRecord): ClaudeModel {
  return {
    value: textOf(value),
    name: textOf(displayName) || textOf(value),
    description: textOf(description),
    resolved: textOf(resolvedModel),
    efforts: listOf(supportedEffortLevels).map(textOf),
  };
}

/** A model of the user's own choice, which Claude Code does not list. */
function unlisted(value: string): ClaudeModel {
  return { value, name: value, description: "As configured", resolved: value, efforts: [] };
}

function toEffort(value: string): Choice {
  return { value, name: value.charAt(0).toUpperCase() + value.slice(1), description: "" };
}
