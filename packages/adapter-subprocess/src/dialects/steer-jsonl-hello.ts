import type { SteeringDriver } from "@acp-steering/core";
import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import type { Abilities, Reopening } from "../dialect.js";

type Boundary = SteeringDriver["supports"]["boundary"];

/** The version of the protocol that the adapter speaks. */
export const PROTOCOL_VERSION = 1;

const BOUNDARIES: readonly Boundary[] = ["now", "afterTool", "nextStep"];
const PLAIN_CONTENT = ["text", "resource_link", "resource"] as const;

/** What an agent says of itself with its first line. */
export interface Hello {
  /** For messages to people. */
  readonly name: string;
  /** When it reads a steer; `undefined` where it reads none. */
  readonly steer: Boundary | undefined;
  readonly images: boolean;
  readonly history: {
    readonly resume: boolean;
    readonly fork: boolean;
    readonly replay: boolean;
    readonly list: boolean;
  };
}

/**
 * @param record the agent's first line of type `hello`
 * @throws VendorError that says what in it is wrong
 */
export function readHello(record: JsonRecord): Hello {
  const { version, steer } = record;
  const history = listOf(record["history"]);
  return {
    name: textOf(record["name"]) || "The agent",
    steer: version === PROTOCOL_VERSION ? readBoundary(steer) : refuse(`version ${JSON.stringify(version)}`),
    images: record["images"] === true,
    history: {
      resume: history.includes("resume"),
      fork: history.includes("fork"),
      replay: history.includes("replay"),
      list: history.includes("list"),
    },
  };
}

/** Whether the agent names its conversations. */
export function namesConversations({ history }: Hello): boolean {
  return history.resume || history.fork;
}

/** What the client is told of such an agent, without the list of its conversations. */
export function abilitiesOf(hello: Hello): Abilities {
  const { steer, images } = hello;
  const content = images ? ([...PLAIN_CONTENT, "image"] as const) : PLAIN_CONTENT;
  return {
    ...(steer && { supports: { content, boundary: steer } }),
    promptCapabilities: { image: images, embeddedContext: true },
    history: { reopens: reopensOf(hello) },
  };
}

function reopensOf({ history: { resume, fork, replay } }: Hello): Reopening["kind"][] {
  return [
    ...(resume && replay ? (["load"] as const) : []),
    ...(resume ? (["resume"] as const) : []),
    ...(fork ? (["fork"] as const) : []),
  ];
}

function readBoundary(steer: unknown): Boundary | undefined {
  if (steer === undefined || steer === null) return undefined;
  return BOUNDARIES.find((boundary) => boundary === steer) ?? refuse(`steer ${JSON.stringify(steer)}`);
}

function refuse(what: string): never {
  throw new VendorError(
    `The agent's hello has ${what}. This adapter speaks version ${PROTOCOL_VERSION} of steer-jsonl, in which "steer" is one of ` +
      `${BOUNDARIES.join(", ")} or left out. Change the line that the agent writes first.`,
    { data: { reason: "agentStartFailed" } },
  );
}
