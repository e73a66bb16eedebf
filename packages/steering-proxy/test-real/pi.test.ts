import { proveReal } from "./prove-real.js";
import { setUpPi } from "./real-agents.js";

proveReal(setUpPi, "auto");
