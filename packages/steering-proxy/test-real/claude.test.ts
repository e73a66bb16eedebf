import { proveReal } from "./prove-real.js";
import { setUpClaude } from "./real-agents.js";

proveReal(setUpClaude, "auto");
