import type { ConfigChange, Turn, VendorSession } from "@acp-steering/kit";
import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiApi } from "./kimi-api.js";

type SessionUpdate = Parameters<Turn["update"]>[0];
type ConfigOption = ReturnType<NonNullable<VendorSession["configOptions"]>>[number];
type Modes = ReturnType<NonNullable<VendorSession["modes"]>>;

interface Model {
  /** Kimi's alias, which names it in `config.toml`. */
  readonly id: string;
  readonly name: string;
  readonly thinks: boolean;
  readonly alwaysThinks: boolean;
  /** How hard it can be told to think; empty where it can only be told whether. */
  readonly efforts: readonly string[];
}

interface Mode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** What Kimi is told. */
  readonly settings: JsonRecord;
}

const MODES: readonly Mode[] = [
  {
    id: "default",
    name: "Default",
    description: "Kimi asks before it changes anything.",
    settings: { plan_mode: false, permission_mode: "manual" },
  },
  { id: "plan", name: "Plan", description: "Kimi reads and makes a plan.", settings: { plan_mode: true } },
  {
    id: "auto",
    name: "Auto",
    description: "Kimi asks only where it is risky.",
    settings: { plan_mode: false, permission_mode: "auto" },
  },
  {
    id: "yolo",
    name: "YOLO",
    description: "Kimi asks nothing.",
    settings: { plan_mode: false, permission_mode: "yolo" },
  },
];

/** Model, thinking and mode of one session, as Kimi has them. */
export class KimiSettings {
  readonly #path: string;
  #api: KimiApi;
  #models: readonly Model[] = [];
  #model = "";
  #thinking = "off";
  #mode = "default";

  /**
   * Reads the session's settings; a session without a model gets the default one, since Kimi refuses to run without.
   * @throws KimiRefusal where there is no such session
   */
  static async read(api: KimiApi, path: string): Promise<KimiSettings> {
    const settings = new KimiSettings(api, path);
    await settings.refresh();
    if (settings.#model === "") await settings.#useDefaultModel();
    return settings;
  }

  private constructor(api: KimiApi, path: string) {
    this.#api = api;
    this.#path = path;
  }

  get model(): string {
    return this.#model;
  }

  get mode(): string {
    return this.#mode;
  }

  get thinking(): string {
    return this.#thinking;
  }

  /** Another server has the session now. */
  async moveTo(api: KimiApi): Promise<void> {
    this.#api = api;
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const [status, catalog] = await Promise.all([
      this.#api.get(`${this.#path}/status`),
      this.#api.get("/api/v1/models"),
    ]);
    this.#models = listOf(recordOf(catalog)["items"]).map((item) => readModel(recordOf(item)));
    const { model, thinking_level, permission, plan_mode } = recordOf(status);
    this.#model = textOf(model);
    this.#thinking = textOf(thinking_level) || "off";
    this.#mode =
      plan_mode === true
        ? "plan"
        : (MODES.find((mode) => mode.settings["permission_mode"] === permission)?.id ?? "default");
  }

  configOptions(): ConfigOption[] {
    const models = this.#models.map(({ id, name }) => ({ value: id, name }));
    return [
      { type: "select", id: "model", name: "Model", category: "model", currentValue: this.#model, options: models },
      ...this.#thinkingOption(),
      {
        type: "select",
        id: "mode",
        name: "Mode",
        category: "mode",
        currentValue: this.#mode,
        options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
      },
    ];
  }

  modes(): Modes {
    const availableModes = MODES.map(({ id, name, description }) => ({ id, name, description }));
    return { currentModeId: this.#mode, availableModes };
  }

  async set({ configId, value }: ConfigChange): Promise<void> {
    if (configId === "mode") return this.setMode(String(value));
    await this.#update(configId === "model" ? { model: value } : { thinking: value });
  }

  async setMode(modeId: string): Promise<void> {
    await this.#update(MODES.find(({ id }) => id === modeId)?.settings ?? {});
  }

  /** What clients have to be told when Kimi itself changes a setting, as it does when a plan is approved. */
  updates(): SessionUpdate[] {
    return [
      { sessionUpdate: "current_mode_update", currentModeId: this.#mode },
      { sessionUpdate: "config_option_update", configOptions: this.configOptions() },
    ];
  }

  #thinkingOption(): ConfigOption[] {
    const model = this.#models.find(({ id }) => id === this.#model);
    if (!model?.thinks) return [];
    const levels = [...(model.alwaysThinks ? [] : ["off"]), ...(model.efforts.length > 0 ? model.efforts : ["on"])];
    const values = levels.includes(this.#thinking) ? levels : [...levels, this.#thinking];
    return [
      {
        type: "select",
        id: "thinking",
        name: "Thinking",
        category: "thought_level",
        currentValue: this.#thinking,
        options: values.map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) })),
      },
    ];
  }

  async #useDefaultModel(): Promise<void> {
    const model = textOf(recordOf(await this.#api.get("/api/v1/config"))["default_model"]);
    if (model !== "") await this.#update({ model });
  }

  async #update(settings: JsonRecord): Promise<void> {
    await this.#api.post(`${this.#path}/profile`, { agent_config: settings });
    await this.refresh();
  }
}

function readModel(item: JsonRecord): Model {
  const capabilities = listOf(item["capabilities"]);
  const id = textOf(item["model"]);
  return {
    id,
    name: textOf(item["display_name"]) || id,
    thinks: capabilities.includes("thinking") || capabilities.includes("always_thinking"),
    alwaysThinks: capabilities.includes("always_thinking"),
    efforts: listOf(item["support_efforts"]).map(textOf),
  };
}
