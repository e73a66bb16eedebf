import type { InjectCall, Verdict } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { listOf, textOf } from "@acp-steering/kit/adapter";
import type { Watch } from "../vendor-steering.js";
import { isRefusal } from "./answers.js";
import { agentName, type Dialect, joinedText, onlyText, recordAt } from "./dialect.js";

/** What Hermes says to a `/steer`, in the middle of whatever else it is saying; by the text that stands in it. */
const ACKNOWLEDGEMENTS = [
  { needle: "Steer queued for the active turn", means: "queued" },
  { needle: "No active turn", means: "later" },
  { needle: "Steer failed", means: "failed" },
] as const;

type Acknowledgement = (typeof ACKNOWLEDGEMENTS)[number]["means"];

/** A steer that Hermes has put aside: it shows it to the model with the results of the tools that run next. */
interface PutAside {
  /** A tool has run in this run: the model may have been shown the steer. */
  ranTools: boolean;
  /** A tool has ended since: with its result the model is shown the steer. */
  toolsAreDone: boolean;
  tell(verdict: Verdict): void;
}

/** One session, as its updates show it. */
interface Session {
  hasCommand: boolean;
  /** A tool has run in the run that is open. */
  ranTools: boolean;
  /** The `/steer` on its way: where Hermes' word on it goes. */
  acknowledge?: ((acknowledgement: Acknowledgement) => void) | undefined;
  putAside?: PutAside | undefined;
}

/**
 * `/steer <text>` as a prompt while another one runs, as Hermes' own ACP adapter takes it. Hermes shows the text to its
 * model with the results of tools, and in a run without any it loses it without a word. So a steer stays with us until
 * the model has gone on after a tool; where the run ends before one was seen, it is continued.
 */
export const slashSteer: Dialect = {
  name: "command",
  delivery: "confirmed",
  boundary: "afterTool",
  recognises: (result) => agentName(result) === "hermes-agent",
  content: onlyText,
  connect: (agent) => {
    const sessions = new Map<unknown, Session>();
    const sessionOf = (params: unknown): Session => {
      const { sessionId } = recordAt(params);
      const session = sessions.get(sessionId) ?? { hasCommand: false, ranTools: false };
      sessions.set(sessionId, session);
      return session;
    };

    const send = async (session: Session, { sessionId, prompt }: InjectCall): Promise<Acknowledgement | Verdict> => {
      let said: Acknowledgement | undefined;
      session.acknowledge = (acknowledgement) => {
        said = acknowledgement;
      };
      const text = `/steer ${joinedText(prompt)}`;
      const params = { sessionId, prompt: [{ type: "text", text }] };
      const answer = await agent.request(METHOD.prompt, params, Number.POSITIVE_INFINITY);
      session.acknowledge = undefined;
      if (answer.error) return isRefusal(answer) ? "unsupported" : "accepted";
      // Without a word on it, it may have been a prompt like any other, which has run to its end.
      return said ?? "accepted";
    };

    /** Until the model has gone on after a tool, or the run is over. */
    const shown = (session: Session, { signal }: InjectCall): Promise<Verdict> =>
      new Promise((resolve) => {
        const putAside: PutAside = { ranTools: session.ranTools, toolsAreDone: false, tell: resolve };
        const end = (): void => {
          session.putAside = undefined;
          resolve(putAside.ranTools ? "accepted" : "tooLate");
        };
        session.putAside = putAside;
        signal.addEventListener("abort", end, { once: true });
        if (signal.aborted) end();
      });

    const acknowledgements = ACKNOWLEDGEMENTS.map(
      ({ needle, means }): Watch => ({
        needle,
        see: ({ params }) => {
          const { sessionUpdate, content } = recordAt(params, "update");
          const { acknowledge } = sessionOf(params);
          if (!acknowledge || sessionUpdate !== "agent_message_chunk") return false;
          if (!textOf(recordAt(content)["text"]).includes(needle)) return false;
          acknowledge(means);
          return true;
        },
      }),
    );

    return {
      steer: async (call) => {
        const session = sessionOf(call);
        if (!session.hasCommand) return "unsupported";
        const answer = await send(session, call);
        if (answer === "queued") return shown(session, call);
        if (answer === "failed") return "unsupported";
        return answer === "later" ? "accepted" : answer;
      },
      runBegins: (sessionId) => {
        sessionOf({ sessionId }).ranTools = false;
      },
      watches: [
        ...acknowledgements,
        {
          needle: "available_commands_update",
          see: ({ params }) => {
            const { availableCommands } = recordAt(params, "update");
            sessionOf(params).hasCommand = listOf(availableCommands).some(
              (command) => recordAt(command)["name"] === "steer",
            );
            return false;
          },
        },
        {
          needle: '"tool_call',
          see: ({ params }) => {
            const { sessionUpdate, status } = recordAt(params, "update");
            const session = sessionOf(params);
            if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return false;
            session.ranTools = true;
            if (session.putAside) session.putAside.ranTools = true;
            if (session.putAside && (status === "completed" || status === "failed"))
              session.putAside.toolsAreDone = true;
            return false;
          },
        },
        {
          needle: '"agent_message_chunk"',
          see: ({ params }) => {
            const session = sessionOf(params);
            if (!session.putAside?.toolsAreDone) return false;
            session.putAside.tell("delivered");
            session.putAside = undefined;
            return false;
          },
        },
      ],
    };
  },
};
