import { fileURLToPath } from "node:url";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import type { Strategy } from "../src/strategy.js";
import { proxied } from "./stand-ins/proxied.js";

const REFERENCE_AGENT = fileURLToPath(new URL("../../steering-testkit/dist/reference-agent-cli.js", import.meta.url));

// An agent that keeps the whole contract: nothing is added to it, or its own layer is passed over.
describe.each<Strategy>(["auto", "finish"])(
  "the reference agent, which has the layer, behind --strategy %s",
  (strategy) => {
    conformance(
      { describe, it, expect },
      modelServerRig({
        start: ({ modelUrl }) =>
          proxied({
            command: process.execPath,
            args: [REFERENCE_AGENT],
            env: { ...process.env, OPENAI_BASE_URL: modelUrl },
            strategy,
          }),
      }),
    );
  },
);
