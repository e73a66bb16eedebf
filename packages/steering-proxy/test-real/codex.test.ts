import { proveReal } from "./prove-real.js";
import { setUpCodex } from "./real-agents.js";

proveReal(setUpCodex, "auto");
