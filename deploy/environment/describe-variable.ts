import { IsOptional } from 'typebox';
import type { TSchema } from 'typebox';
import type { Unit } from '../../shared/runtime/variables.ts';

/** What an operator has to know of a variable, as text. */
export type VariableText = {
  readonly default: string;
  readonly unit: string;
  readonly range: string;
  readonly meaning: string;
};

export function describeVariable(variable: TSchema): VariableText {
  const unit = textOf(variable, 'unit');
  const byDefault = 'default' in variable ? variable.default : undefined;
  const isSecret = 'isSecret' in variable;
  return {
    default: byDefault === undefined ? (IsOptional(variable) ? '–' : '**required**') : showDefault(byDefault, unit),
    unit,
    range: rangeOf(variable),
    meaning: isSecret ? `${textOf(variable, 'description')}. Secret` : textOf(variable, 'description'),
  };
}

function showDefault(value: unknown, unit: string): string {
  if (value === '') return '–';
  const spoken = typeof value === 'number' ? inLargerUnit(value, unit) : undefined;
  return `\`${String(value)}\`${spoken === undefined ? '' : ` (${spoken})`}`;
}

const scales: Readonly<Partial<Record<Unit, readonly (readonly [number, string])[]>>> = {
  bytes: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
  ],
  ms: [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ],
};

/** `8 MiB` for 8388608 bytes; nothing where no larger unit fits. */
function inLargerUnit(value: number, unit: string): string | undefined {
  const fitting = scales[unit as Unit]?.find(([size]) => value >= size && value % size === 0);
  return fitting === undefined ? undefined : `${value / fitting[0]} ${fitting[1]}`;
}

function rangeOf(variable: TSchema): string {
  if ('mustBe' in variable) return textOf(variable, 'mustBe');
  if ('enum' in variable && Array.isArray(variable.enum)) return variable.enum.map((one) => `\`${one}\``).join(', ');
  if ('type' in variable && variable.type === 'boolean') return '`true`, `false`';
  const { minimum, maximum, pattern } = variable as { minimum?: number; maximum?: number; pattern?: string };
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return pattern === undefined ? '' : (shownPatterns[pattern] ?? `\`${pattern.replaceAll('|', '\\|')}\``);
}

/** Patterns that say more in words. */
const shownPatterns: Readonly<Record<string, string>> = {
  '^https?://': 'http or https',
  '^postgres(ql)?://': '`postgresql://…`',
  '-----BEGIN CERTIFICATE-----': 'PEM',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----': 'PEM',
  '-----BEGIN NATS USER JWT-----': 'a creds file',
};

function textOf(variable: TSchema, key: string): string {
  const value: unknown = (variable as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? value : '';
}
