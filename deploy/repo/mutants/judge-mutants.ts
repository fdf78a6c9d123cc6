import { scoreMin } from './rooms.ts';

/** The used part of Stryker's report: https://github.com/stryker-mutator/mutation-testing-elements, schema 2. */
export type MutationReport = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
};

type ReportedMutant = {
  readonly status:
    | 'Killed'
    | 'Survived'
    | 'NoCoverage'
    | 'Timeout'
    | 'CompileError'
    | 'RuntimeError'
    | 'Ignored'
    | 'Pending';
  readonly mutatorName: string;
  readonly replacement?: string;
  /** Lines and columns count from 1. */
  readonly location: { readonly start: Position; readonly end: Position };
};

type Position = { readonly line: number; readonly column: number };

/** A mutant that no test notices. Identified by text, because line numbers change with every edit above. */
export type Survivor = {
  readonly file: string;
  /** The source line in which the mutant begins, without indentation. */
  readonly line: string;
  /** The changed text and its replacement. */
  readonly change: string;
};

/** A survivor that is accepted, with the reason. */
export type ExplainedSurvivor = Survivor & { readonly why: string };

export type Verdict = {
  readonly noticed: number;
  readonly survivors: readonly Survivor[];
  /** Percentage of mutants that were noticed; 100 if there are none. */
  readonly score: number;
};

/** Counts the mutants of a report that tests noticed, by a failure or a timeout, and lists the others. */
export function judgeMutants({ files }: MutationReport): Verdict {
  const survivors: Survivor[] = [];
  let noticed = 0;
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split('\n');
    for (const mutant of mutants) {
      if (mutant.status === 'Killed' || mutant.status === 'Timeout') noticed += 1;
      else if (mutant.status === 'Survived' || mutant.status === 'NoCoverage')
        survivors.push(survivorOf(file, lines, mutant));
    }
  }
  const all = noticed + survivors.length;
  return { noticed, survivors, score: all === 0 ? 100 : (noticed / all) * 100 };
}

function survivorOf(file: string, lines: readonly string[], { location, replacement = '' }: ReportedMutant): Survivor {
  const { start, end } = location;
  const first = lines[start.line - 1] ?? '';
  const isOneLine = start.line === end.line;
  const original = first.slice(start.column - 1, isOneLine ? end.column - 1 : undefined);
  const change = `${shorten(isOneLine ? original : `${original} …`)} → ${shorten(replacement)}`;
  return { file, line: first.trim(), change };
}

const changeCharactersMax = 160;
const shorten = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, changeCharactersMax);

/** Why a room does not pass: too low a score, and unexplained survivors. Empty if it passes. */
export function problemsOf({ score, survivors }: Verdict, explained: readonly ExplainedSurvivor[]): readonly string[] {
  const known = new Set(explained.map(keyOf));
  const low = score < scoreMin ? [`score ${score.toFixed(1)} %, at least ${scoreMin} % is required`] : [];
  const unexplained = survivors.filter((survivor) => !known.has(keyOf(survivor)));
  return [
    ...low,
    ...unexplained.map(({ file, line, change }) => `${file}: no test notices ${change}\n      in ${line}`),
  ];
}

/**
 * Explanations of mutants that are now noticed or no longer exist. Only explanations for files in `looked` are judged.
 */
export function outdated(
  explained: readonly ExplainedSurvivor[],
  survivors: readonly Survivor[],
  looked: ReadonlySet<string>,
): readonly ExplainedSurvivor[] {
  const found = new Set(survivors.map(keyOf));
  return explained.filter((survivor) => looked.has(survivor.file) && !found.has(keyOf(survivor)));
}

const keyOf = ({ file, line, change }: Survivor): string => `${file}\n${line}\n${change}`;
