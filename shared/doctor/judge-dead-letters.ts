import { deadLetterSubject } from '../contracts/subjects.ts';
import { streams } from '../nats/streams/topology.ts';
import { ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

const subject = deadLetterSubject('ingest');

/**
 * Accepted events that could not be read, by how many messages the log keeps of them. They belong to no destination, so
 * the configuration interface, which lists dead letters by destination, does not show them.
 */
export function judgeIngestDeadLetters(messages: number): Finding {
  const about = 'unreadable events';
  if (messages === 0) return ok(about, 'none are kept');
  const detail = `${messages} messages of accepted events that no resolver could read are kept under ${subject}`;
  const see = `nats stream view ${streams.deadLetters} --subject ${subject}`;
  const advice = `read them (${see}): the runbook, SluiceIngestDeadLetters, says what to look for and how to be rid of them`;
  return warn(about, detail, advice);
}
