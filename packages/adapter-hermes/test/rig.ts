import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type SteeringAgent, steeringAgent } from "@acp-steering/kit";
import { modelServerRig } from "@acp-steering/testkit";
import { hermesVendor } from "../src/index.js";

type MakeRig = ReturnType<typeof modelServerRig>;

/** Hermes asks only before dangerous commands, takes a steer at once, and does not break off what its model says. */
export const NOT_APPLICABLE: readonly string[] = [
  "hold.allowed, a steer, then the permission is given: the agent did not ask before it ran a command",
  "hold.rejected, a steer, then the permission is refused: the agent did not ask before it ran a command",
  "hold.unanswered, a steer, then a cancel: the agent did not ask before it ran a command",
  "revoke.pending, while the model speaks: the agent had handed it over at once",
  "revoke.pending, while a permission is open: the agent did not ask before it ran a command",
  "driver.boundary, a steer while the model speaks: the driver does not promise to break off what the model says",
];

const { supports } = hermesVendor();

/** What the conformance suite needs: the adapter with that interpreter, a home of its own, and a scripted model. */
export function hermesRig(python: string, env: NodeJS.ProcessEnv = process.env): MakeRig {
  return modelServerRig({
    ...(supports && { supports }),
    start: async ({ modelUrl, configuration }) => {
      const model = {
        provider: "custom",
        default: "scripted",
        base_url: modelUrl,
        api_key: "none",
        context_length: 4_000_000,
        supports_vision: true,
      };
      const auxiliary = { title_generation: { enabled: false } };
      await writeFile(
        join(configuration, "config.yaml"),
        JSON.stringify({ model, auxiliary, security: { tirith_enabled: false } }),
      );
      return endingWithItsConnection(
        steeringAgent(
          hermesVendor({
            python,
            hermesHome: configuration,
            env: { ...env, NO_PROXY: "127.0.0.1", HERMES_DISABLE_PLUGINS: "1" },
            log: () => {},
          }),
        ),
      );
    },
  });
}

/** A process that speaks ACP over stdio ends with its one connection; in this process somebody has to see to it. */
function endingWithItsConnection(agent: SteeringAgent): Pick<SteeringAgent, "connect"> {
  return {
    connect: (stream, options) => {
      const connection = agent.connect(stream, options);
      void connection.closed.then(() => agent.dispose());
      return connection;
    },
  };
}
