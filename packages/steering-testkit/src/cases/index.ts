export { BOUNDARY_CASES } from "./boundary.js";
export type { Case } from "./case.js";
export { CASES } from "./cases.js";
export { type ModelBehind, startModelBehind } from "./model-behind.js";
