/** Where parts of a stack that is reached by name are, each below a name that nobody else has (RFC 6761). */
export const stackName = (part: 'log' | 'database' | 'destination'): string => `${part}.sluice.test`;

export const isStackName = (name: string): boolean => name.endsWith('.sluice.test');
