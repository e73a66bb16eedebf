import type { RequirementId } from "@acp-steering/testkit";

const WHY = "nothing answers the notification: whether it came before the run's end is not known";

/** What a steer that is a notification can fail at, as often as it comes too late. */
export const UNANSWERED: Partial<Record<RequirementId, string>> = {
  "G1.running": WHY,
  "G1.early": WHY,
  "G1.with-prompt": WHY,
  "G1.boundary": WHY,
  "G3.order": WHY,
  "G3.flood": WHY,
  "hold.rejected": WHY,
  "content.image": WHY,
  "content.large": WHY,
  "command.steer": WHY,
};
