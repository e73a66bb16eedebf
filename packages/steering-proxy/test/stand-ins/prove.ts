import { type ConformanceOptions, conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import type { Strategy } from "../../src/strategy.js";
import { proxiedStandIn } from "./proxied.js";

/** The whole list of what a steerable agent has to prove, with a stand-in of that dialect behind the proxy. */
export function prove(dialect: string, strategy: Strategy, exceptions: ConformanceOptions = {}): void {
  describe(`${dialect} behind --strategy ${strategy}`, () => {
    conformance(
      { describe, it, expect },
      modelServerRig({
        supports: { content: ["text"], boundary: "nextStep" },
        start: ({ modelUrl }) => proxiedStandIn(dialect, modelUrl, { strategy }),
      }),
      exceptions,
    );
  });
}
