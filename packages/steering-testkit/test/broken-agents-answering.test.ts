import { MISANSWERING_AGENTS } from "../src/reference/broken/answering.js";
import { CARELESS_AGENTS } from "../src/reference/broken/extras.js";
import { CONFUSED_AGENTS } from "../src/reference/broken/turns.js";
import { testMatrix } from "./broken-matrix.js";

testMatrix([...MISANSWERING_AGENTS, ...CONFUSED_AGENTS, ...CARELESS_AGENTS]);
