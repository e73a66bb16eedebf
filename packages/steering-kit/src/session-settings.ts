import { CODE, METHOD } from "@acp-steering/core/protocol";
import type {
  AgentContext,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
} from "@agentclientprotocol/sdk/unstable";
import { methods, RequestError } from "@agentclientprotocol/sdk/unstable";
import type { AgentSession } from "./agent-session.js";
import { VendorError } from "./vendor-error.js";

/** What the answers of `session/new`, `load`, `resume` and `fork` say of a session's settings. */
export function settingsOf({ vendorSession }: AgentSession): {
  configOptions?: SessionConfigOption[];
  modes?: SessionModeState;
} {
  return {
    ...(vendorSession.configOptions && { configOptions: [...vendorSession.configOptions()] }),
    ...(vendorSession.modes && { modes: vendorSession.modes() }),
  };
}

/**
 * `session/set_mode`.
 * @throws VendorError -32602 when there is no such mode.
 */
export async function setMode({ vendorSession }: AgentSession, { modeId }: SetSessionModeRequest): Promise<void> {
  if (!vendorSession.setMode || !vendorSession.modes) throw RequestError.methodNotFound(methods.agent.session.setMode);
  const modes = vendorSession.modes().availableModes.map(({ id }) => id);
  if (!modes.includes(modeId)) throw invalid("modeId", modeId, modes);
  await vendorSession.setMode(modeId);
}

/**
 * `session/set_config_option`.
 * @throws VendorError -32602 when there is no such option or no such choice.
 */
export async function setConfigOption(
  { vendorSession }: AgentSession,
  { configId, value }: SetSessionConfigOptionRequest,
): Promise<SetSessionConfigOptionResponse> {
  if (!vendorSession.setConfigOption || !vendorSession.configOptions) {
    throw RequestError.methodNotFound(methods.agent.session.setConfigOption);
  }
  const option = vendorSession.configOptions().find(({ id }) => id === configId);
  if (!option)
    throw invalid(
      "configId",
      configId,
      vendorSession.configOptions().map(({ id }) => id),
    );
  const choices = choicesOf(option);
  if (!choices.includes(value)) throw invalid("value", value, choices);
  await vendorSession.setConfigOption({ configId, value });
  return { configOptions: [...vendorSession.configOptions()] };
}

/** Tells the client of a session once the answer that names it is on its way. */
export function announce({ id, vendorSession }: AgentSession, client: AgentContext): void {
  const send = (update: SessionUpdate): void => {
    // A failed write means that the client is gone; the end of the connection is handled where it is noticed.
    client.notify(METHOD.update, { sessionId: id, update }).catch(() => {});
  };
  setImmediate(() => {
    const { commands } = vendorSession;
    if (commands) send({ sessionUpdate: "available_commands_update", availableCommands: [...commands] });
    vendorSession.attach?.(send);
  });
}

function choicesOf(option: SessionConfigOption): readonly (string | boolean)[] {
  if (option.type === "boolean") return [true, false];
  return option.options.flatMap((entry) => ("options" in entry ? entry.options : [entry])).map(({ value }) => value);
}

function invalid(path: string, given: unknown, choices: readonly unknown[]): VendorError {
  return new VendorError(`There is no ${path} ${JSON.stringify(given)} here. Choose one of: ${choices.join(", ")}.`, {
    code: CODE.invalidParams,
    data: { path },
  });
}
