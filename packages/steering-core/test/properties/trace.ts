import { tokensOf } from "./chronicle.js";
import type { Entry, Message } from "./history.js";

const letterOf = (link: number): string => String.fromCharCode(65 + link);

/** What a message says, in a few words. */
function gist({ method, id, params, result, error }: Message): string {
  const said = {
    session: params?.sessionId,
    update: params?.update?.sessionUpdate,
    text: params?.update?.content?.text,
    prompt: tokensOf(params?.prompt).join(" ") || params?.prompt?.[0]?.text,
    state: params?.state && [params.state, params.reason, params.assumed && "assumed"].filter(Boolean).join(" "),
    cancels: params?.requestId,
    wants: JSON.stringify(params?._meta?.steering),
    got: result?.outcome?.outcome ?? result?.outcome ?? result?.stopReason ?? (result && "a result"),
    detail: result?._meta?.steering?.detail,
    undelivered: result?._meta?.steering?.undelivered?.length,
    error: error?.code,
    reason: error?.data?.reason,
  };
  const words = Object.entries(said).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${value}`],
  );
  return [method ?? "answer", `#${String(id ?? "-").replace(/.*\//, "run/")}`, ...words].join(" ");
}

function sentence(entry: Entry): string {
  switch (entry.kind) {
    case "clientSent":
      return `${letterOf(entry.link)} → layer        ${gist(entry.message)}`;
    case "clientGot":
      return `${letterOf(entry.link)} ← layer        ${gist(entry.message)}`;
    case "agentSent":
      return `        layer ← ${letterOf(entry.link)} ${gist(entry.message)}`;
    case "agentGot":
      return `        layer → ${letterOf(entry.link)} ${gist(entry.message)}`;
    case "injected":
      return `        driver ← ${tokensOf(entry.text).join(" ")} ${entry.messageId.slice(0, 4)}`;
    case "took":
      return `        take → ${tokensOf(entry.steers).join(" ")}`;
    case "verdict":
      return `        driver says ${entry.verdict} ${entry.messageId.slice(0, 4)}`;
    case "reported":
      return `        driver reports ${entry.report} ${entry.messageId.slice(0, 4)}`;
    case "aborted":
      return `        driver is told to stop ${entry.messageId.slice(0, 4)}`;
    case "tick":
      return `  ${entry.now} ms`;
    default:
      return `${letterOf(entry.link)} ${entry.kind}`;
  }
}

/** A history for people: one line a fact, with place and step. */
export const traceOf = (entries: readonly Entry[]): string =>
  entries
    .filter(({ step }) => step > 0)
    .map((entry) => `${String(entry.at).padStart(4)} ${String(entry.step).padStart(4)}  ${sentence(entry)}`)
    .join("\n");
