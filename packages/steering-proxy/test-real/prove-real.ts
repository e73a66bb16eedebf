import { type Behind, type ConformanceOptions, conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import type { Strategy } from "../src/strategy.js";
import { proxied } from "../test/stand-ins/proxied.js";
import type { SetUp } from "./real-agents.js";

/** The whole list of what a steerable agent has to prove, with a real agent behind the proxy. */
export function proveReal(setUp: SetUp, strategy: Strategy, exceptions: ConformanceOptions = {}): void {
  const makeRig = modelServerRig({
    start: async ({ modelUrl, configuration }) => proxied({ ...(await setUp(modelUrl, configuration)), strategy }),
  });
  conformance(
    { describe, it, expect },
    async () => {
      const rig = await makeRig();
      return { ...rig, behind: ofTheTurn(rig.behind) };
    },
    exceptions,
  );
}

/** Without what an agent asks for itself, such as a title: these agents offer no tools with that. */
function ofTheTurn(behind: Behind): Behind {
  const next: Behind["next"] = (wanted, signal) =>
    behind.next(
      (step) =>
        step.hasShell && (typeof wanted === "string" ? step.texts.some((text) => text.includes(wanted)) : wanted(step)),
      signal,
    );
  return { ...behind, next };
}
