import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { RecordingError, compareRecording } from './compare-recording.ts';
import type { CompareOptions, Comparison } from './compare-recording.ts';
import { createSummary } from './comparison-summary.ts';
import { readRecordings } from './read-recordings.ts';
import type { RecordingLine } from './read-recordings.ts';
import { showRecording, showSummary } from './show-comparison.ts';

type Options = { readonly onlyExpected?: true; readonly ignore: readonly string[]; readonly json?: true };

const exitCodes = { differs: 1, failed: 2, usage: 64 } as const;
/** Maximum number of invalid lines: a file with more is not a recording. */
const unusableMax = 20;

// Checks whether this side would send what another service has sent.
const program = new Command('compare-kinds')
  .description(
    'Compares payloads that another service sent to platforms with what is sent here for the same events, member by ' +
      'member. Exit: 0 all are the same, 1 something differs, 2 lines could not be compared.',
  )
  .argument(
    '<file>',
    'one JSON object per line: {kind, settings?, person?, before?, event, expected, at?}; - is standard input',
  )
  .option('--only-expected', 'do not report members that are sent here and were not recorded')
  .option(
    '--ignore <path>',
    'do not compare this member; repeatable. Write lists without indexes: data[].event_id',
    addTo,
    [],
  )
  .option('--json', 'for programs: one JSON object per line, the summary last')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : exitCodes.usage))
  .action((file: string, options: Options) =>
    runCommand('compare-kinds', () => compare(file, options), exitCodes.failed),
  );

await runProgram(program);

async function compare(file: string, { onlyExpected, ignore, json }: Options): Promise<number> {
  const options = { onlyExpected: onlyExpected === true, ignored: ignore };
  const summary = createSummary();
  let unusable = 0;
  let compared = 0;
  let differs = false;
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const read of readRecordings(input as AsyncIterable<Buffer>)) {
    const result = compareLine(read, options);
    if (typeof result === 'string') {
      unusable += 1;
      process.stderr.write(`${file}:${read.line}: ${result}\n`);
      if (unusable >= unusableMax) throw new Error(`${unusableMax} lines could not be compared: stopped`);
      continue;
    }
    compared += 1;
    differs ||= result.verdict !== 'same';
    if ('recording' in read) {
      summary.add(read.recording.kind, result);
      const { kind, name } = read.recording;
      const text = json === true ? `${JSON.stringify({ line: read.line, kind, name, ...result })}\n` : undefined;
      await write(text ?? showRecording(read.line, read.recording, result));
    }
  }
  if (compared === 0 && unusable === 0) throw new Error(`${file} holds no recording`);
  const kinds = summary.kinds();
  await write(json === true ? `${JSON.stringify({ summary: kinds, unusable })}\n` : `\n${showSummary(kinds)}`);
  if (unusable > 0) return exitCodes.failed;
  return differs ? exitCodes.differs : 0;
}

/** The comparison of a line, or the reason why the line cannot be compared. */
function compareLine(read: RecordingLine, options: CompareOptions): Comparison | string {
  if ('problem' in read) return read.problem;
  try {
    return compareRecording(read.recording, options);
  } catch (error) {
    if (error instanceof RecordingError) return error.message;
    throw error;
  }
}

/** Writes to stdout; waits while its buffer is full. */
async function write(text: string): Promise<void> {
  if (text === '' || process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

function addTo(path: string, paths: readonly string[]): readonly string[] {
  return [...paths, path.replaceAll(/\[\d+\]/g, '[]')];
}
