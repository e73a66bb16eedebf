import type { Vendor } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import type { Abilities, Agent, Dialect, History } from "../dialect.js";
import { abilitiesOf, type Hello } from "./steer-jsonl-hello.js";
import { SteerJsonlSession } from "./steer-jsonl-session.js";
import { SteerJsonlTalk } from "./steer-jsonl-talk.js";

type List = NonNullable<History["list"]>;
type SessionInfo = Awaited<ReturnType<NonNullable<Vendor["list"]>>>["sessions"][number];

async function meet(agent: Agent): Promise<Abilities> {
  const hello = await agent.visit(process.cwd(), (channel) => {
    const listener = new SteerJsonlTalk(channel);
    return { listener, answer: listener.hello() };
  });
  const { history, ...abilities } = abilitiesOf(hello);
  return { ...abilities, ...(history && { history: { ...history, ...(hello.history.list && { list }) } }) };
}

const list: List = async ({ cwd }, agent) => {
  const { conversations } = await agent.visit(cwd ?? process.cwd(), (channel) => {
    const listener = new SteerJsonlTalk(channel);
    return { listener, answer: askForList(listener, cwd) };
  });
  const sessions = listOf(conversations).filter(isRecord).flatMap(toSessionInfo);
  return { sessions: cwd ? sessions.filter((session) => session.cwd === cwd) : sessions };
};

async function askForList(talk: SteerJsonlTalk, cwd: string | null | undefined): Promise<JsonRecord> {
  const hello: Hello = await talk.hello();
  if (!hello.history.list) throw new Error(`${hello.name} does not list its conversations any more`);
  return talk.ask("list", "conversations", cwd ? { cwd } : {});
}

function toSessionInfo({ id, cwd, title, updatedAt }: JsonRecord): SessionInfo[] {
  if (textOf(id) === "" || textOf(cwd) === "") return [];
  return [
    {
      sessionId: textOf(id),
      cwd: textOf(cwd),
      ...(typeof title === "string" && { title }),
      ...(typeof updatedAt === "string" && { updatedAt }),
    },
  ];
}

/**
 * Our own protocol for agents in any language: one JSON object a line. docs/steer-jsonl.md says what an agent writes and
 * reads; schema/steer-jsonl.schema.json has the shapes.
 *
 * What an agent can stands in its hello, which is asked for once, before the client is answered: an agent that does not
 * say there that it reads steers gets them in a continuation. Pass the options through `meetAgent`.
 */
export const steerJsonl: Dialect = {
  name: "steer-jsonl",
  title: "The agent",
  usage: "python3 my-agent.py",
  meet,
  session: (channel) => new SteerJsonlSession(channel),
};
