import type { ConfigChange, VendorSession } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { type PiCommands, PiRefusal } from "./pi-commands.js";
import { type PiModel, type PiState, readModels } from "./pi-records.js";

type ConfigOption = ReturnType<NonNullable<VendorSession["configOptions"]>>[number];

/** Model and thinking level of one session, as Pi has them. */
export class PiSettings {
  readonly #commands: PiCommands;
  #models: readonly PiModel[] = [];
  #model: PiModel | undefined;
  #thinkingLevel = "off";
  #thinkingLevels: readonly string[] = [];

  constructor(commands: PiCommands) {
    this.#commands = commands;
  }

  async read(state: PiState): Promise<void> {
    this.#models = readModels(await this.#commands.send("get_available_models"));
    await this.adopt(state);
  }

  /** Takes over what Pi's state says. @returns whether it differs from what was known */
  async adopt({ model, thinkingLevel }: PiState): Promise<boolean> {
    const isSameModel = nameOf(model) === nameOf(this.#model);
    if (!isSameModel) this.#thinkingLevels = await this.#levelsOf(model);
    this.#model = model;
    return this.thinkingLevelChanged(thinkingLevel) || !isSameModel;
  }

  /** @returns whether it differs from what was known */
  thinkingLevelChanged(level: string): boolean {
    const isSame = this.#thinkingLevel === level;
    this.#thinkingLevel = level;
    return !isSame;
  }

  configOptions(): ConfigOption[] {
    return [...this.#modelOption(), ...this.#thinkingOption()];
  }

  /** @throws VendorError with what Pi says against it */
  async set({ configId, value }: ConfigChange): Promise<void> {
    try {
      if (configId === "model") await this.#setModel(String(value));
      else await this.#commands.send("set_thinking_level", { level: value });
    } catch (error) {
      if (!(error instanceof PiRefusal)) throw error;
      throw new VendorError(
        `Pi did not change the ${configId}: ${error.message}. Choose another one, or set this one up in Pi.`,
        { data: { reason: "settingRefused" }, cause: error },
      );
    }
  }

  async #setModel(value: string): Promise<void> {
    const { provider, id } = this.#models.find((model) => nameOf(model) === value) ?? {};
    await this.#commands.send("set_model", { provider, modelId: id });
  }

  /** Pi 0.73 cannot be asked for the levels: there they follow from the model's record. */
  async #levelsOf(model: PiModel | undefined): Promise<readonly string[]> {
    try {
      return listOf(recordOf(await this.#commands.send("get_available_thinking_levels"))["levels"]).map(textOf);
    } catch (error) {
      if (error instanceof PiRefusal) return model?.thinkingLevels ?? [];
      throw error;
    }
  }

  #modelOption(): ConfigOption[] {
    const model = this.#model;
    if (!model) return [];
    const known = this.#models.some((other) => nameOf(other) === nameOf(model));
    const models = known ? this.#models : [...this.#models, model];
    return [
      {
        type: "select",
        id: "model",
        name: "Model",
        category: "model",
        currentValue: nameOf(model),
        options: models.map((other) => ({ value: nameOf(other), name: other.name, description: other.provider })),
      },
    ];
  }

  #thinkingOption(): ConfigOption[] {
    if (this.#thinkingLevels.every((level) => level === "off")) return [];
    const known = this.#thinkingLevels.includes(this.#thinkingLevel);
    const levels = known ? this.#thinkingLevels : [...this.#thinkingLevels, this.#thinkingLevel];
    return [
      {
        type: "select",
        id: "thinking",
        name: "Thinking",
        category: "thought_level",
        currentValue: this.#thinkingLevel,
        options: levels.map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) })),
      },
    ];
  }
}

function nameOf(model: PiModel | undefined): string {
  return model ? `${model.provider}/${model.id}` : "";
}
