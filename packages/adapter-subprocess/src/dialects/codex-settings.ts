import type { ConfigChange, VendorSession } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";

type ConfigOption = ReturnType<NonNullable<VendorSession["configOptions"]>>[number];
type Modes = ReturnType<NonNullable<VendorSession["modes"]>>;

interface Choice {
  readonly value: string;
  readonly name: string;
  readonly description: string;
}

interface CodexModel extends Choice {
  readonly efforts: readonly Choice[];
  readonly defaultEffort: string;
}

/** What Codex may do by itself, and when it asks: its own three ways, and the user's configuration where it is none of them. */
interface CodexMode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly approvalPolicy: unknown;
  readonly sandboxPolicy: JsonRecord;
}

const WORKSPACE = { writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false };

const MODES: readonly CodexMode[] = [
  {
    id: "read-only",
    name: "Read only",
    description: "Reads files; asks before it changes one or uses the network",
    approvalPolicy: "on-request",
    sandboxPolicy: { type: "readOnly", networkAccess: false },
  },
  {
    id: "auto",
    name: "Workspace",
    description: "Works in the session's folder; asks before it leaves it or uses the network",
    approvalPolicy: "on-request",
    sandboxPolicy: { type: "workspaceWrite", ...WORKSPACE },
  },
  {
    id: "full-access",
    name: "Full access",
    description: "Works everywhere and uses the network, and never asks",
    approvalPolicy: "never",
    sandboxPolicy: { type: "dangerFullAccess" },
  },
];

/** Model, effort and mode of one session. What the user changes goes along with the next turn of Codex', and stays. */
export class CodexSettings {
  readonly #models: readonly CodexModel[];
  readonly #modes: readonly CodexMode[];
  #model: string;
  #effort: string;
  #modeId: string;
  #changes: JsonRecord = {};

  /**
   * @param thread the answer that opened the thread
   * @param models the `data` of `model/list`
   */
  constructor(thread: JsonRecord, models: unknown) {
    this.#model = textOf(thread["model"]);
    this.#effort = textOf(thread["reasoningEffort"]);
    const listed = listOf(models)
      .filter(isRecord)
      .filter(({ hidden }) => hidden !== true)
      .map(toModel);
    const isListed = listed.some(({ value }) => value === this.#model);
    this.#models = isListed ? listed : [...listed, unlisted(this.#model)];
    const configured = modeOf(thread);
    const mode = MODES.find((known) => isSameMode(known, configured));
    this.#modes = mode
      ? MODES.map((known) => (known === mode ? { ...mode, sandboxPolicy: configured.sandboxPolicy } : known))
      : [configured, ...MODES];
    this.#modeId = mode?.id ?? configured.id;
  }

  configOptions(): ConfigOption[] {
    return [
      { ...this.#select("model", "Model", this.#model, this.#models), category: "model" },
      ...(this.#efforts.length > 0
        ? [
            {
              ...this.#select("effort", "Reasoning effort", this.#presentEffort, this.#efforts),
              category: "thought_level",
            },
          ]
        : []),
    ];
  }

  set({ configId, value }: ConfigChange): void {
    if (configId === "model") this.#setModel(String(value));
    else this.#setEffort(String(value));
  }

  modes(): Modes {
    const availableModes = this.#modes.map(({ id, name, description }) => ({ id, name, description }));
    return { currentModeId: this.#modeId, availableModes };
  }

  setMode(modeId: string): void {
    const mode = this.#modes.find(({ id }) => id === modeId);
    if (!mode) return;
    this.#modeId = modeId;
    const { approvalPolicy, sandboxPolicy } = mode;
    this.#changes = { ...this.#changes, approvalPolicy, sandboxPolicy };
  }

  /** What Codex has to be told with the next turn, once. */
  takeChanges(): JsonRecord {
    const changes = this.#changes;
    this.#changes = {};
    return changes;
  }

  get #efforts(): readonly Choice[] {
    return this.#models.find(({ value }) => value === this.#model)?.efforts ?? [];
  }

  get #presentEffort(): string {
    return this.#effort || (this.#models.find(({ value }) => value === this.#model)?.defaultEffort ?? "");
  }

  #setModel(model: string): void {
    this.#model = model;
    this.#changes = { ...this.#changes, model };
    // Another model may not have the effort that was chosen for this one.
    if (this.#effort !== "" && !this.#efforts.some(({ value }) => value === this.#effort)) {
      this.#setEffort(this.#models.find(({ value }) => value === model)?.defaultEffort ?? "");
    }
  }

  #setEffort(effort: string): void {
    this.#effort = effort;
    this.#changes = { ...this.#changes, ...(effort !== "" && { effort }) };
  }

  #select(id: string, name: string, currentValue: string, choices: readonly Choice[]) {
    const options = choices.map(({ value, name: label, description }) => ({ value, name: label, description }));
    return { type: "select" as const, id, name, currentValue, options };
  }
}

function toModel(model: JsonRecord): CodexModel {
  const efforts = listOf(model["supportedReasoningEfforts"]).filter(isRecord).map(toEffort);
  return {
    value: textOf(model["model"]),
    name: textOf(model["displayName"]) || textOf(model["model"]),
    description: textOf(model["description"]),
    efforts,
    defaultEffort: textOf(model["defaultReasoningEffort"]),
  };
}

function toEffort({ reasoningEffort, description }: JsonRecord): Choice {
  const value = textOf(reasoningEffort);
  return { value, name: value.charAt(0).toUpperCase() + value.slice(1), description: textOf(description) };
}

/** A model of the user's own provider, which Codex does not list. */
function unlisted(value: string): CodexModel {
  return { value, name: value, description: "As configured", efforts: [], defaultEffort: "" };
}

function modeOf({ approvalPolicy, sandbox }: JsonRecord): CodexMode {
  const description = "As Codex is configured";
  return { id: "configured", name: "Configured", description, approvalPolicy, sandboxPolicy: recordOf(sandbox) };
}

function isSameMode(known: CodexMode, configured: CodexMode): boolean {
  const isSameSandbox = known.sandboxPolicy["type"] === configured.sandboxPolicy["type"];
  return isSameSandbox && known.approvalPolicy === configured.approvalPolicy;
}
