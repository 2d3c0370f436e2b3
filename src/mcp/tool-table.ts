// All tools, chosen for the questions that people ask. A tool that is added here is served over stdio and over HTTP.
import type { McpTool } from './tool.ts'
import { actTools } from './tools/act.ts'
import { lookTools } from './tools/look.ts'
import { noteTools } from './tools/notes.ts'
import { recordTools } from './tools/records.ts'
import { reportTools } from './tools/reports.ts'

export const tools: readonly McpTool[] = [...lookTools, ...recordTools, ...reportTools, ...noteTools, ...actTools]
