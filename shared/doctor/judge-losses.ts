import type { LossNote } from '../nats/messages/lost-messages.ts';
import type { StreamLoss } from '../nats/streams/stream-progress.ts';
import { fail, ok } from './finding.ts';
import type { Finding } from './finding.ts';

const about = 'lost messages';
const advice =
  'the runbook, SluiceLogLostMessages, says what they were and how to get them back; look at the disks of nats-server';
const namedMax = 20;

/** What the log has lost of what it had acknowledged: as its servers tell, and as readers have noticed within a month. */
export function judgeLosses(byServer: ReadonlyMap<string, StreamLoss>, noticed: readonly LossNote[]): Finding[] {
  const findings: Finding[] = [];
  for (const [stream, { bytes, seqs }] of byServer) {
    if (bytes === 0 && seqs.length === 0) continue;
    const which = seqs.length === 0 ? '' : `: sequences ${list(seqs)}`;
    const detail = `nats-server has found ${bytes} bytes of ${stream} damaged or missing since it started${which}`;
    findings.push(fail(about, detail, advice));
  }
  for (const stream of new Set(noticed.map((note) => note.stream))) {
    const notes = noticed.filter((note) => note.stream === stream);
    const lastMs = Math.max(...notes.map(({ noticedAtMs }) => noticedAtMs));
    const subjects = list([...new Set(notes.map(({ subject }) => subject))]);
    const seqs = list(notes.map(({ seq }) => seq));
    const detail = `of ${stream} sequences ${seqs} (${subjects}) were gone, noticed last at ${new Date(lastMs).toISOString()}`;
    findings.push(fail(about, detail, advice));
  }
  return findings.length === 0 ? [ok(about, 'none are known')] : findings;
}

function list(values: readonly (string | number)[]): string {
  const more = values.length > namedMax ? ` and ${values.length - namedMax} more` : '';
  return values.slice(0, namedMax).join(', ') + more;
}
