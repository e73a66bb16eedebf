import { environmentOf } from "./child-channel.js";
import type { Agent } from "./dialect.js";
import { type StartOptions, startChild } from "./start-child.js";

/** The agent outside of any session: a child is started when it is asked something. */
export function agentOf(options: Omit<StartOptions, "cwd">): Agent {
  const { dialect, command, log } = options;
  return {
    command,
    environment: environmentOf(dialect),
    log,
    visit: async (cwd, talk, extraArguments = []) => {
      const open = (channel: Parameters<typeof talk>[0]) => {
        const { listener, answer } = talk(channel);
        return { answer, receive: listener.receive.bind(listener), ended: listener.ended.bind(listener) };
      };
      const { channel, answer } = await startChild({ ...options, cwd, extraArguments }, open, (visit) => visit.answer);
      await channel.stop();
      return answer;
    },
  };
}
