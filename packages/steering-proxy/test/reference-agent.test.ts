import { fileURLToPath } from "node:url";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { proxied } from "./stand-ins/proxied.js";

const REFERENCE = fileURLToPath(new URL("../../steering-testkit/dist/reference-agent-cli.js", import.meta.url));

// The agent has no steering: all that is proved here is the proxy's.
describe.each(["finish", "interrupt"] as const)("the reference agent without steering, by %s", (strategy) => {
  conformance(
    { describe, it, expect },
    modelServerRig({
      start: ({ modelUrl }) =>
        proxied({
          command: process.execPath,
          args: [REFERENCE, "--road", "none"],
          env: { ...process.env, OPENAI_BASE_URL: modelUrl },
          strategy,
        }),
    }),
  );
});
