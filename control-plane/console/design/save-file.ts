const types = { json: 'application/json', csv: 'text/csv' } as const;

/** Downloads a text as a file of the type that the name's extension denotes. */
export function saveFile(name: `${string}.${keyof typeof types}`, text: string): void {
  const type = name.endsWith('.csv') ? types.csv : types.json;
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
