import type { PermissionQuestion, Turn } from "@acp-steering/kit";
import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";

/** An approval that Kimi waits for, as its event tells of it. */
export interface KimiApproval {
  readonly id: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** What is to be approved, such as "Writing a.txt". */
  readonly action: string;
  readonly display: JsonRecord;
}

/** The user's answer, as Kimi takes it. */
export interface ApprovalAnswer {
  readonly decision: "approved" | "rejected" | "cancelled";
  readonly scope?: "session";
  readonly feedback?: string;
  readonly selected_label?: string;
}

interface Choice {
  readonly option: PermissionQuestion["options"][number];
  readonly answer: ApprovalAnswer;
  /** The user is asked why; only where the client shows forms. */
  readonly asksWhy?: boolean;
}

/** Reads the event `event.approval.requested`. */
export function readApproval(event: JsonRecord): KimiApproval {
  return {
    id: textOf(event["approval_id"]),
    toolCallId: textOf(event["tool_call_id"]),
    toolName: textOf(event["tool_name"]),
    action: textOf(event["action"]),
    display: recordOf(event["tool_input_display"]),
  };
}

/** Asks the user. What cannot be asked is rejected: Kimi must not go on with what nobody has allowed. */
export async function askApproval(
  turn: Turn,
  { display }: KimiApproval,
  toolCall: PermissionQuestion["toolCall"],
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const choices = choicesFor(display, turn.elicit !== undefined);
  const options = choices.map(({ option }) => option);
  const { outcome } = await turn.requestPermission({ toolCall, options }, signal);
  if (outcome.outcome === "cancelled") return { decision: "cancelled" };
  const chosen = choices.find(({ option }) => option.optionId === outcome.optionId);
  if (!chosen) return { decision: "rejected" };
  const feedback = chosen.asksWhy ? await askWhy(turn, signal) : "";
  return feedback === "" ? chosen.answer : { ...chosen.answer, feedback };
}

function choicesFor(display: JsonRecord, canAskWhy: boolean): Choice[] {
  const rejections = display["kind"] === "plan_review" ? planRejections(canAskWhy) : toolRejections(canAskWhy);
  const approvals = display["kind"] === "plan_review" ? planApprovals(display) : TOOL_APPROVALS;
  return [...approvals, ...rejections];
}

const TOOL_APPROVALS: readonly Choice[] = [
  {
    option: { optionId: "approve_once", name: "Approve once", kind: "allow_once" },
    answer: { decision: "approved" },
  },
  {
    option: { optionId: "approve_always", name: "Approve for this session", kind: "allow_always" },
    answer: { decision: "approved", scope: "session" },
  },
];

function toolRejections(canAskWhy: boolean): Choice[] {
  const reject: Choice = {
    option: { optionId: "reject", name: "Reject", kind: "reject_once" },
    answer: { decision: "rejected" },
  };
  if (!canAskWhy) return [reject];
  const tell: Choice = {
    option: { optionId: "reject_with_feedback", name: "Reject and say why", kind: "reject_once" },
    answer: { decision: "rejected" },
    asksWhy: true,
  };
  return [reject, tell];
}

/** A plan may offer ways to carry it out; with fewer than two there is nothing to choose. */
function planApprovals(display: JsonRecord): Choice[] {
  const labels = listOf(display["options"]).map((option) => textOf(recordOf(option)["label"]));
  if (labels.length < 2) {
    return [
      { option: { optionId: "plan_approve", name: "Approve", kind: "allow_once" }, answer: { decision: "approved" } },
    ];
  }
  return labels.map((label, index) => ({
    option: { optionId: `plan_opt_${index}`, name: label, kind: "allow_once" },
    answer: { decision: "approved", selected_label: label },
  }));
}

function planRejections(canAskWhy: boolean): Choice[] {
  return [
    {
      option: { optionId: "plan_revise", name: "Revise", kind: "reject_once" },
      answer: { decision: "rejected", selected_label: "Revise" },
      asksWhy: canAskWhy,
    },
    {
      option: { optionId: "plan_reject_and_exit", name: "Reject and leave plan mode", kind: "reject_once" },
      // Kimi knows the choice by this label.
      answer: { decision: "rejected", selected_label: "Reject and Exit" },
    },
  ];
}

async function askWhy(turn: Turn, signal: AbortSignal): Promise<string> {
  try {
    const answer = await turn.elicit?.(
      {
        message: "What should Kimi do instead?",
        requestedSchema: { type: "object", properties: { feedback: { type: "string", title: "Feedback" } } },
      },
      signal,
    );
    return answer?.action === "accept" ? textOf(recordOf(answer.content)["feedback"]) : "";
  } catch {
    // The rejection counts, also without its reason.
    return "";
  }
}
