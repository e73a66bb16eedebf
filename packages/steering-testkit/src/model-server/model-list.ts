import type { JsonObject } from "./json.js";

/** The one model that is listed. Every other name works as well. */
const LISTED = "scripted";

const openaiModel = (id: string): JsonObject => ({ id, object: "model", created: 0, owned_by: "acp-steering" });

const anthropicModel = (id: string): JsonObject => ({
  type: "model",
  id,
  display_name: id,
  created_at: "1970-01-01T00:00:00Z",
});

const MODEL_PATH = /\/models(?:\/([^/]+))?$/;

export const isModelPath = (path: string): boolean => MODEL_PATH.test(path);

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The list of models, or the one that the path ends with: asked for by its name, every model is there. */
export const answerModels = (path: string, asAnthropic: boolean): JsonObject => {
  const describe = asAnthropic ? anthropicModel : openaiModel;
  const wanted = MODEL_PATH.exec(path)?.[1];
  if (wanted !== undefined) return describe(decode(wanted));
  const data = [describe(LISTED)];
  return asAnthropic ? { data, has_more: false, first_id: LISTED, last_id: LISTED } : { object: "list", data };
};
