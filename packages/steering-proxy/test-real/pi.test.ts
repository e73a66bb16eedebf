import { describe } from "vitest";
import { proveReal } from "./prove-real.js";
import { setUpPi } from "./real-agents.js";

describe("a layer over a layer: nothing is left to add", () => proveReal(setUpPi, "auto"));

describe("a layer over a layer that is passed over", () => proveReal(setUpPi, "finish"));
