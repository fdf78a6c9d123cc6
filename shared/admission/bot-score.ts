import { isbot } from 'isbot';
import type { JsonObject } from '../runtime/json.ts';

/** Default threshold: the lowest score that counts as a bot. */
export const botScoreThresholdDefault = 70;

/** Score of an event with an empty User-Agent, as scripts send it, but also some honest servers. */
const noUserAgentScore = 50;

/**
 * How likely a bot sent an event, 0 to 100: the client's own value (`bot_score` or `is_bot` of its defaultProperties),
 * or else what the isbot library says about the visitor's User-Agent. Undefined if neither is known, as when a server
 * forwards neither: the server's own User-Agent does not count, since it names a library, and all libraries look like
 * bots.
 */
export function botScore(defaultProperties: object, userAgent: string | undefined): number | undefined {
  const { bot_score: said, is_bot: isBot } = defaultProperties as JsonObject;
  if (typeof said === 'number' && Number.isFinite(said)) return Math.round(Math.min(Math.max(said, 0), 100));
  // Some libraries send `is_bot` as text.
  const saysBot = typeof isBot === 'string' ? isBot.trim().toLowerCase() : isBot;
  if (saysBot === true || saysBot === 'true') return 100;
  if (saysBot === false || saysBot === 'false') return 0;
  if (userAgent === undefined) return undefined;
  if (userAgent === '') return noUserAgentScore;
  return isbot(userAgent) ? 100 : 0;
}

/** A source's botControlMode and botScoreThreshold as published. */
export type BotControl = { readonly mode: string | null | undefined; readonly threshold: number | null | undefined };

/** Whether a source's bot control stops an event with this score. An event whose score is unknown is not stopped. */
export function isStoppedAsBot(control: BotControl, score: number | undefined): boolean {
  if (score === undefined) return false;
  if (control.mode === 'Block') return score >= botScoreThresholdDefault;
  if (control.mode === 'Threshold') return score >= (control.threshold ?? botScoreThresholdDefault);
  return false;
}
