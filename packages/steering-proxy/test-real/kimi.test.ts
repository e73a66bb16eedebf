import { proveReal } from "./prove-real.js";
import { setUpKimi } from "./real-agents.js";

proveReal(setUpKimi, "auto");
